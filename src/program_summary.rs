//! What is kept of a compiled program beside its code.

use std::fmt;

use prost::Message;

use crate::device_shape::ShapeTable;
use crate::error::{Code, Error, Result};
use crate::hlo;
use crate::serialized::checksum;
use crate::signature::Signature;

/// What a compiled program takes, gives and donates. Numbers are for good, as those of the header
/// in which it stands.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProgramSummary {
    #[prost(uint64, tag = "1")]
    pub replicas: u64,
    #[prost(uint64, tag = "2")]
    pub partitions: u64,
    #[prost(bool, tag = "3")]
    pub has_collectives: bool,
    /// The compiled module without its code, a `HloModuleProto`.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub module: Option<Vec<u8>>,
    /// For each output the number of the input that it is, from 1 on; 0 where it is none. Empty
    /// where all are none.
    #[prost(uint32, repeated, tag = "5")]
    pub returned: Vec<u32>,
}

/// More than any machine has: beyond it a number is damage.
const MOST_DEVICES: usize = 1 << 20;

impl ProgramSummary {
    /// Of a compiled module: shapes, donations, shardings, and the parameters' names; and of its
    /// signature what follows from the code.
    pub(crate) fn new(module: &hlo::Module<'_>, signature: &Signature) -> ProgramSummary {
        let outputs = signature.outputs().iter();
        let number = |input: Option<usize>| input.map_or(0, |input| input as u32 + 1);
        let mut returned: Vec<u32> = outputs.map(|it| number(it.returned_input())).collect();
        if returned.iter().all(|number| *number == 0) {
            returned = Vec::new();
        }
        ProgramSummary {
            replicas: signature.replicas() as u64,
            partitions: signature.partitions() as u64,
            has_collectives: module.has_collectives,
            module: Some(module.summary()),
            returned,
        }
    }

    fn read(&self) -> Result<hlo::Module<'_>> {
        let damaged = |what: &dyn fmt::Display| Error::new(Code::DataLoss, what.to_string());
        let module = self.module.as_deref();
        let module = module.ok_or_else(|| damaged(&"it states no program"))?;
        hlo::Module::read(module).map_err(|error| damaged(&error))
    }

    /// The program's name; empty where it can't be read.
    pub(crate) fn name(&self) -> String {
        self.read()
            .map_or_else(|_| String::new(), |module| module.name.to_owned())
    }

    /// Whether both are of the same program, by what is read here of it.
    pub(crate) fn states_the_same(&self, other: &ProgramSummary) -> bool {
        let counts = |of: &ProgramSummary| (of.replicas, of.partitions, of.has_collectives);
        let (Ok(module), Ok(others)) = (self.read(), other.read()) else {
            return false;
        };
        counts(self) == counts(other) && module.summary() == others.summary()
    }

    pub(crate) fn signature(&self, shapes: &ShapeTable) -> Result<Signature> {
        let module = self.read()?;
        let count = |stated: u64| {
            let count = usize::try_from(stated).ok();
            count.filter(|count| (1..=MOST_DEVICES).contains(count))
        };
        let (Some(replicas), Some(partitions)) = (count(self.replicas), count(self.partitions))
        else {
            return Err(Error::new(
                Code::DataLoss,
                format!(
                    "it states {} replicas of {} partitions",
                    self.replicas, self.partitions
                ),
            ));
        };
        let mut signature = Signature::of_module(&module, replicas, partitions, shapes)?;
        signature.note_returned(&self.returned);
        Ok(signature.with_collectives(self.has_collectives))
    }

    /// The checksum of all of it and of other numbers.
    pub(crate) fn checksum_with(&self, others: [u64; 2]) -> u64 {
        let module = self.module.as_deref().unwrap_or_default();
        let stated = [
            self.replicas,
            self.partitions,
            u64::from(self.has_collectives),
            module.len() as u64,
            checksum(module),
            self.returned.len() as u64,
        ];
        let returned = self.returned.iter().map(|number| u64::from(*number));
        let all = others.into_iter().chain(stated).chain(returned);
        let all: Vec<u8> = all.flat_map(u64::to_le_bytes).collect();
        checksum(&all)
    }
}
