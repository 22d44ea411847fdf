//! What stands before a kept executable, and can be read without a plugin.

use std::fmt;

use prost::Message;

use crate::client::Client;
use crate::device::Device;
use crate::device_shape::ShapeTable;
use crate::error::{Code, Error, Result};
use crate::origin::Origin;
use crate::program_summary::ProgramSummary;
use crate::serialized;
use crate::signature::{plural, Signature};

/// What [`Executable::serialize`](crate::Executable::serialize) and
/// [`CompiledProgram::serialize`](crate::CompiledProgram::serialize) write before a plugin's
/// bytes: who made them, what they take, give and donate, and where they run. It is read
/// without a client, so that a tool can show what it has.
///
/// It displays as a few lines, the signature among them.
///
/// ```
/// use xla::{Client, CompileOptions, ExecutableHeader, Program};
///
/// let client = Client::cpu()?;
/// let program = Program::from_text(
///     "module @same { func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }",
/// )?;
/// let kept = client.compile(&program, &CompileOptions::new())?.serialize()?;
///
/// let header = ExecutableHeader::read(&kept)?;
/// assert_eq!(header.signature().name(), "same");
/// assert_eq!(header.platform_name(), "cpu");
/// # Ok::<(), xla::Error>(())
/// ```
#[derive(Clone)]
pub struct ExecutableHeader {
    pub(crate) stated: HeaderProto,
    signature: Signature,
}

/// The header as it is written. Numbers are for good: what is no longer used is not used anew.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderProto {
    #[prost(message, optional, tag = "1")]
    pub origin: Option<Origin>,
    /// XLA's, of the compiled program.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub fingerprint: Option<Vec<u8>>,
    #[prost(message, optional, tag = "3")]
    pub program: Option<ProgramSummary>,
    /// The devices of this process, replica by replica, each with its partitions.
    #[prost(int32, repeated, tag = "4")]
    pub device_ids: Vec<i32>,
    /// How many devices the client had.
    #[prost(uint64, tag = "5")]
    pub client_devices: u64,
    #[prost(uint64, tag = "6")]
    pub payload_length: u64,
    #[prost(fixed64, tag = "7")]
    pub payload_checksum: u64,
    /// What a compile cache knows it by.
    #[prost(bytes = "vec", optional, tag = "8")]
    pub cache_key: Option<Vec<u8>>,
    /// Whether it was compiled for a topology, without a client.
    #[prost(bool, tag = "9")]
    pub for_topology: bool,
    /// The checksum of the program's summary together with what the header says of the plugin's
    /// bytes: where it fits, both were written by one who had compared them. Missing in what older
    /// versions of this crate wrote.
    #[prost(fixed64, optional, tag = "10")]
    pub bond: Option<u64>,
}

impl HeaderProto {
    /// Says of which bytes it is the header.
    pub(crate) fn bind_to(&mut self, payload: &[u8]) {
        self.payload_length = payload.len() as u64;
        self.payload_checksum = serialized::checksum(payload);
        self.bond = self.bond_of_all();
    }

    fn bond_of_all(&self) -> Option<u64> {
        let program = self.program.as_ref()?;
        Some(program.checksum_with([self.payload_length, self.payload_checksum]))
    }
}

impl ExecutableHeader {
    /// Whether bytes, of which the first are enough, begin as those of a kept executable do: no
    /// program begins so.
    pub fn begins(bytes: &[u8]) -> bool {
        serialized::begins(bytes)
    }

    /// Reads the header of what [`Executable::serialize`](crate::Executable::serialize) gave,
    /// or of the beginning of it: what follows the header isn't looked at.
    ///
    /// # Errors
    /// The bytes are no kept executable, end within the header, or are damaged there; they
    /// were written by another version of the format.
    pub fn read(bytes: &[u8]) -> Result<ExecutableHeader> {
        serialized::split(bytes, &ShapeTable::default()).map(|(header, _)| header)
    }

    /// As [`ExecutableHeader::read`], and checks that the plugin's bytes behind the header are
    /// whole.
    ///
    /// # Errors
    /// As [`ExecutableHeader::read`]; the bytes end early or late, or are damaged.
    pub fn verify(bytes: &[u8]) -> Result<ExecutableHeader> {
        serialized::verified(bytes).map(|(header, _)| header)
    }

    /// Reads a header; its shapes go to the table.
    pub(crate) fn decode(message: &[u8], shapes: &ShapeTable) -> Result<ExecutableHeader> {
        let unreadable = |error: &dyn fmt::Display| {
            Error::new(
                Code::DataLoss,
                format!("the header of the kept executable can't be read: {error}"),
            )
        };
        let stated = HeaderProto::decode(message).map_err(|error| unreadable(&error))?;
        let nothing = ProgramSummary::default();
        let program = stated.program.as_ref().unwrap_or(&nothing);
        let signature = program
            .signature(shapes)
            .map_err(|error| unreadable(&error.message()))?;
        if stated.device_ids.is_empty() || stated.origin.is_none() {
            return Err(unreadable(
                &"it doesn't state who made it, or for which devices",
            ));
        }
        Ok(ExecutableHeader { stated, signature })
    }

    fn origin(&self) -> &Origin {
        static NOBODY: Origin = Origin {
            platform_name: String::new(),
            platform_version: String::new(),
            api_major: 0,
            api_minor: 0,
            build: None,
            processor: String::new(),
        };
        self.stated.origin.as_ref().unwrap_or(&NOBODY)
    }

    /// The version of the format that it is written in.
    pub fn format(&self) -> u8 {
        serialized::FORMAT
    }

    /// The platform that it was compiled for ([`Client::platform_name`]).
    pub fn platform_name(&self) -> &str {
        &self.origin().platform_name
    }

    /// The platform's version, free text ([`Client::platform_version`]).
    pub fn platform_version(&self) -> &str {
        &self.origin().platform_version
    }

    /// The version of the PJRT C API of the plugin that made it, as (major, minor).
    pub fn api_version(&self) -> (i32, i32) {
        (self.origin().api_major, self.origin().api_minor)
    }

    /// XLA's fingerprint of the compiled program (`PJRT_Executable_Fingerprint`); `None` where
    /// the plugin has none. That of a program that was loaded may be another one than that of
    /// the program which was kept (CPU plugin of API 0.106), so it isn't compared.
    pub fn fingerprint(&self) -> Option<&[u8]> {
        self.stated.fingerprint.as_deref()
    }

    /// What it takes, gives and donates.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The ids of the devices that run it, of those of the process that kept it: replica by
    /// replica, each with its partitions.
    pub fn device_ids(&self) -> &[i32] {
        &self.stated.device_ids
    }

    /// How many devices the client had that kept it, those of other processes included.
    pub fn client_device_count(&self) -> usize {
        usize::try_from(self.stated.client_devices).unwrap_or(usize::MAX)
    }

    /// The size of the plugin's bytes, which follow the header.
    pub fn payload_bytes(&self) -> u64 {
        self.stated.payload_length
    }

    /// Refuses a client that can't load it.
    pub(crate) fn check_client(&self, client: &Client) -> Result<()> {
        let (made, here) = (self.origin(), Origin::here(client));
        let differences = [
            ("platform", made.platform_name.clone(), here.platform_name),
            (
                "platform version",
                made.platform_version.clone(),
                here.platform_version,
            ),
            (
                "plugin version: PJRT API",
                format!("{}.{}", made.api_major, made.api_minor),
                format!("{}.{}", here.api_major, here.api_minor),
            ),
            ("build of the plugin", build(made.build), build(here.build)),
            ("processor", made.processor.clone(), here.processor),
        ];
        let name = self.signature.name();
        // A GPU topology calls the GPU its version, a client the CUDA that it was built for:
        // there the build of the plugin has to do.
        let by_build = self.stated.for_topology && made.build.is_some();
        for (what, made, here) in differences {
            if made != here && !(by_build && what == "platform version") {
                return Err(Error::new(
                    Code::FailedPrecondition,
                    format!(
                        "the kept executable of `{name}` was made for another {what}: {made}, but \
                         this is {here}; compile the program anew"
                    ),
                ));
            }
        }
        self.check_devices(client)
    }

    /// The plugin believes what its bytes say of devices.
    fn check_devices(&self, client: &Client) -> Result<()> {
        let ids: Vec<i32> = client.devices().iter().map(Device::id).collect();
        let wanted = &self.stated.device_ids;
        let Some(missing) = wanted.iter().find(|id| !ids.contains(id)) else {
            return Ok(());
        };
        Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "the kept executable of `{}` runs on {} with the ids {wanted:?}, but the client has {} \
                 with the ids {ids:?}, and {missing} is none of them; make a client with more devices \
                 (for CPU: `ClientOptions::cpu_device_count`), or compile the program anew",
                self.signature.name(),
                plural(wanted.len(), "device"),
                ids.len(),
            ),
        ))
    }

    /// Whether the bytes behind it are those of the stated program for certain, once its checksum of
    /// them was found to fit: nothing of what a plugin loads need be read again then.
    pub(crate) fn is_bound(&self) -> bool {
        self.stated.bond.is_some() && self.stated.bond == self.stated.bond_of_all()
    }

    /// Refuses a program that isn't the stated one.
    pub(crate) fn check_program(&self, loaded: &ProgramSummary) -> Result<()> {
        let stated = self.stated.program.as_ref();
        if stated.is_some_and(|stated| stated.states_the_same(loaded)) {
            return Ok(());
        }
        Err(self.another(&loaded.name()))
    }

    /// Refuses a program that has not as many replicas, partitions and outputs as stated.
    pub(crate) fn check_counts(
        &self,
        (replicas, partitions): (usize, usize),
        outputs: usize,
    ) -> Result<()> {
        let stated = &self.signature;
        if (replicas, partitions) == (stated.replicas(), stated.partitions())
            && outputs == stated.outputs().len()
        {
            return Ok(());
        }
        Err(self.another(&format!(
            "{} on {} of {}",
            plural(outputs, "output"),
            plural(replicas, "replica"),
            plural(partitions, "partition")
        )))
    }

    fn another(&self, loaded: &str) -> Error {
        Error::new(
            Code::DataLoss,
            format!(
                "the kept executable states the signature of `{}`, but what the plugin loaded has \
                 another one, `{loaded}`; compile the program anew",
                self.signature.name()
            ),
        )
    }

    /// The program and its signature.
    pub(crate) fn into_program(self) -> (ProgramSummary, Signature) {
        (self.stated.program.unwrap_or_default(), self.signature)
    }
}

fn build(build: Option<u64>) -> String {
    build.map_or_else(
        || "one without a file".to_owned(),
        |build| format!("{build:016x}"),
    )
}

impl fmt::Display for ExecutableHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.origin();
        writeln!(
            f,
            "for {} (PJRT API {}.{}), devices {:?}, {}",
            made.platform_name,
            made.api_major,
            made.api_minor,
            self.stated.device_ids,
            plural(self.stated.payload_length as usize, "byte"),
        )?;
        fmt::Display::fmt(&self.signature, f)
    }
}

impl fmt::Debug for ExecutableHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutableHeader")
            .field("name", &self.signature.name())
            .field("platform", &self.platform_name())
            .field("api", &self.api_version())
            .field("devices", &self.device_ids())
            .field("payload_bytes", &self.payload_bytes())
            .finish()
    }
}
