//! The course of a training as a picture.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::report::Report;

const SIZE: (u32, u32) = (960, 400);
const FONT: &str = "sans-serif";
const BLUE: RGBColor = RGBColor(31, 95, 168);
const ORANGE: RGBColor = RGBColor(217, 105, 28);
const GREY: RGBColor = RGBColor(176, 190, 204);
const TEXT: RGBColor = RGBColor(60, 60, 60);

/// A diagram over the epochs.
struct Panel<'a> {
    title: &'a str,
    /// How a value is written at the axis.
    value: &'a dyn Fn(&f64) -> String,
    range: Range<f64>,
    legend: SeriesLabelPosition,
    lines: [Line<'a>; 2],
}

struct Line<'a> {
    label: &'a str,
    color: RGBColor,
    /// Epochs gone by, and the value.
    points: Vec<(f64, f64)>,
    /// Whether each point gets a dot.
    dots: bool,
}

/// Draws loss and accuracy over the epochs, side by side.
pub fn draw(report: &Report, path: &Path) -> Result<()> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(SIZE.0 / 2);
    loss(report).draw(&left)?;
    accuracy(report).draw(&right)?;
    area.present()?;
    Ok(())
}

fn loss(report: &Report) -> Panel<'_> {
    let steps_per_epoch = report.losses.len() as f64 / report.epochs.len() as f64;
    let steps = report.losses.iter().enumerate();
    let epochs = report.epochs.iter().enumerate();
    let highest = report.losses.iter().copied().fold(0.0, f32::max);
    Panel {
        title: "Loss",
        value: &|loss| format!("{loss:.1}"),
        range: 0.0..f64::from(highest) * 1.05,
        legend: SeriesLabelPosition::UpperRight,
        lines: [
            Line {
                label: "training, each step",
                color: BLUE,
                points: steps
                    .map(|(step, loss)| (step as f64 / steps_per_epoch, f64::from(*loss)))
                    .collect(),
                dots: false,
            },
            Line {
                label: "held out, each epoch",
                color: ORANGE,
                points: epochs
                    .map(|(index, epoch)| ((index + 1) as f64, epoch.held_out.loss().into()))
                    .collect(),
                dots: true,
            },
        ],
    }
}

fn accuracy(report: &Report) -> Panel<'_> {
    let epochs = || report.epochs.iter().enumerate();
    // What was seen right while an epoch went on belongs to its middle.
    let training = epochs()
        .map(|(index, epoch)| (index as f64 + 0.5, epoch.training.accuracy() * 100.0))
        .collect::<Vec<_>>();
    let held_out = epochs()
        .map(|(index, epoch)| (index as f64 + 1.0, epoch.held_out.accuracy() * 100.0))
        .collect::<Vec<_>>();
    let both = training.iter().chain(&held_out);
    let lowest = both.fold(100.0, |lowest: f64, (_, percent)| lowest.min(*percent));
    Panel {
        title: "Accuracy",
        value: &|percent| format!("{percent:.0}%"),
        range: (lowest / 10.0).floor() * 10.0..100.5,
        legend: SeriesLabelPosition::LowerRight,
        lines: [
            Line {
                label: "training, mean of an epoch",
                color: BLUE,
                points: training,
                dots: true,
            },
            Line {
                label: "held out, after an epoch",
                color: ORANGE,
                points: held_out,
                dots: true,
            },
        ],
    }
}

impl Panel<'_> {
    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<()> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let end = points.fold(1.0, |end: f64, (epochs, _)| end.max(*epochs));
        let text = |size| (FONT, size).into_font().color(&TEXT);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, text(20))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..end, self.range.clone())?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GREY.mix(0.4))
            .axis_style(TEXT)
            .label_style(text(15))
            .x_desc("epochs")
            .x_labels(11)
            .y_labels(8)
            .x_label_formatter(&|epochs| format!("{epochs:.0}"))
            .y_label_formatter(self.value)
            .draw()?;
        for line in &self.lines {
            let style = line.color.stroke_width(if line.dots { 2 } else { 1 });
            let color = line.color;
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(line.label)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2))
                });
            let dotted = if line.dots { &line.points[..] } else { &[] };
            let dots = dotted
                .iter()
                .map(|point| Circle::new(*point, 3, color.filled()));
            chart.draw_series(dots)?;
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .label_font(text(15))
            .background_style(WHITE.mix(0.9))
            .border_style(GREY)
            .draw()?;
        Ok(())
    }
}
