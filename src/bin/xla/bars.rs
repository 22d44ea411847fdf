//! Bars, as SVG.

use std::fmt::Write;

/// Bars side by side for each group: a row of the table and the bytes in each column.
pub(crate) struct Bars<'a> {
    pub(crate) title: &'a str,
    /// What the bars of a group stand for, in order.
    pub(crate) series: &'a [&'a str],
    /// What each group is called, and its bars' lengths; `None` has no bar.
    pub(crate) groups: &'a [(&'a str, Vec<Option<i64>>)],
}

/// A colour for each series, apart also for who doesn't see red or green.
const COLOURS: [&str; 3] = ["#999999", "#0072b2", "#e69f00"];
const WIDTH: usize = 720;
const LEFT: usize = 90;
/// The room for the longest bar.
const LONGEST: usize = 480;
const BAR: usize = 16;
const GAP: usize = 14;
const HEAD: usize = 64;

impl Bars<'_> {
    /// The picture.
    pub(crate) fn to_svg(&self) -> String {
        let group = self.series.len() * BAR + GAP;
        let height = HEAD + self.groups.len() * group;
        let lengths = self
            .groups
            .iter()
            .flat_map(|(_, bars)| bars.iter().flatten());
        let most = lengths.copied().max().unwrap_or(0).max(1);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        // Writing to a String doesn't fail.
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"20\" font-size=\"15\">{}</text>",
            escaped(self.title)
        );
        for (at, name) in self.series.iter().enumerate() {
            let (x, colour) = (8 + at * 220, COLOURS[at % COLOURS.len()]);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"32\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
            );
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"42\">{}</text>",
                x + 18,
                escaped(name)
            );
        }
        for (row, (name, bars)) in self.groups.iter().enumerate() {
            let top = HEAD + row * group;
            let middle = top + self.series.len() * BAR / 2 + 4;
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>",
                LEFT - 8,
                escaped(name)
            );
            for (at, bytes) in bars.iter().enumerate() {
                let Some(bytes) = bytes else { continue };
                let y = top + at * BAR;
                let length = (*bytes).max(0) as f64 / most as f64 * LONGEST as f64;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" fill=\"{}\"/>",
                    BAR - 3,
                    COLOURS[at % COLOURS.len()]
                );
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{}\">{bytes}</text>",
                    LEFT as f64 + length + 6.,
                    y + 11
                );
            }
        }
        svg += "</svg>\n";
        svg
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        let svg = Bars {
            title: "a < b & c",
            series: &["x", "y"],
            groups: &[
                ("one", vec![Some(100), Some(25)]),
                ("two", vec![None, Some(0)]),
            ],
        }
        .to_svg();
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains("width=\"480.0\"") && svg.contains("width=\"120.0\""));
        assert_eq!(svg.matches("<rect x=\"90\"").count(), 3);
        assert!(svg.ends_with("</svg>\n"));
    }
}
