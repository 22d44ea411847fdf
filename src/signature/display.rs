//! A signature as a table.

use std::fmt;

use super::{plural, Donation, Signature};
use crate::sharding::Sharding;

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} ({} x {}){}",
            self.name,
            plural(self.replicas, "replica"),
            plural(self.partitions, "partition"),
            if self.is_compiled {
                ""
            } else {
                ", not compiled"
            }
        )?;
        for (index, input) in self.inputs.iter().enumerate() {
            write!(f, "  input  {index:>3}  {}{}", input.shape(), input.layout)?;
            self.write_sharding(f, &input.sharding)?;
            self.write_donation(f, index)?;
            match &input.name {
                Some(name) => writeln!(f, "  {name}")?,
                None => writeln!(f)?,
            }
        }
        for (index, output) in self.outputs.iter().enumerate() {
            write!(
                f,
                "  output {index:>3}  {}{}",
                output.shape(),
                output.layout
            )?;
            self.write_sharding(f, &output.sharding)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Signature {
    fn write_donation(&self, f: &mut fmt::Formatter<'_>, index: usize) -> fmt::Result {
        match self.inputs[index].donation {
            Donation::Into {
                output,
                required: false,
            } => {
                write!(f, "  donated into output {output}")
            }
            Donation::Into {
                output,
                required: true,
            } => {
                write!(f, "  must be donated into output {output}")
            }
            Donation::Unused => {
                let why = self.why_unused(index).unwrap_or_default();
                write!(f, "  offered for donation, but {why}")
            }
            Donation::Offered => write!(f, "  offered for donation"),
            Donation::None => Ok(()),
        }
    }

    /// Told of programs with several partitions.
    fn write_sharding(
        &self,
        f: &mut fmt::Formatter<'_>,
        sharding: &Option<Sharding>,
    ) -> fmt::Result {
        match sharding {
            _ if self.partitions == 1 || !self.is_compiled => Ok(()),
            Some(sharding) => write!(f, "  {sharding}"),
            None => f.write_str("  {sharding not known}"),
        }
    }
}
