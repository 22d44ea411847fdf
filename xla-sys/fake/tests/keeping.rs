//! Kept executables: what the plugin is asked for them.

mod session;

use pjrt_fake::Fake;
use session::{client, compile, REPLICATED, STEP};
use xla::{Code, ExecutableHeader};

fn asked(fake: &Fake, entry: &str) -> usize {
    let calls = fake.calls();
    calls.iter().filter(|call| call.entry == entry).count()
}

/// The compiled module is as large as the program: it is read when that is compiled, and no more.
#[test]
fn the_compiled_module_is_read_once() {
    const MODULE: &str = "PJRT_Executable_OptimizedProgram";
    for text in [STEP, REPLICATED] {
        let fake = Fake::new();
        let client = client(&fake);
        let program = compile(&client, text);
        let compiled = asked(&fake, MODULE);
        assert!(compiled > 0);
        let bytes = program.serialize().expect("bytes");
        let loaded = client.deserialize(&bytes).expect("it loads");
        assert_eq!(loaded.serialize().expect("bytes"), bytes);
        assert_eq!(asked(&fake, MODULE), compiled);
        let wanted = program.signature().to_string();
        assert_eq!(loaded.signature().to_string(), wanted);
        assert_eq!(loaded.devices(), program.devices());
        let header = ExecutableHeader::read(&bytes).expect("a header");
        assert_eq!(header.signature().to_string(), wanted);
        drop((loaded, program, client));
        fake.assert_clean();
    }
}

/// What an older version of this crate wrote says less, so the loaded module is read.
#[test]
fn what_has_no_bond_is_compared() {
    const MODULE: &str = "PJRT_Executable_OptimizedProgram";
    let fake = Fake::new();
    let client = client(&fake);
    let program = compile(&client, STEP);
    let mut bytes = program.serialize().expect("bytes");
    let compiled = asked(&fake, MODULE);
    // The length of the header, and the checksum over all of it, stand before it.
    let length = u32::from_le_bytes(bytes[8..12].try_into().expect("four")) as usize;
    let end = 20 + length;
    assert_eq!(bytes[end - 9], 10 << 3 | 1, "the bond is its last field");
    bytes.drain(end - 9..end);
    bytes[8..12].copy_from_slice(&(length as u32 - 9).to_le_bytes());
    let mut both = bytes[..12].to_vec();
    both.extend_from_slice(&checksum(&bytes[20..end - 9]).to_le_bytes());
    let sum = checksum(&both);
    bytes[12..20].copy_from_slice(&sum.to_le_bytes());
    ExecutableHeader::verify(&bytes).expect("whole");
    let loaded = client.deserialize(&bytes).expect("it loads");
    assert!(asked(&fake, MODULE) > compiled);
    assert_eq!(
        loaded.signature().to_string(),
        program.signature().to_string()
    );
    // From now on it has one.
    assert_eq!(
        loaded.serialize().expect("bytes"),
        program.serialize().expect("bytes")
    );
    bytes[end] ^= 1;
    let error = client.deserialize(&bytes).expect_err("damaged");
    assert_eq!(error.code(), Code::DataLoss, "{error}");
    drop((loaded, program, client));
    fake.assert_clean();
}

/// As the format says, a second time on purpose.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^= sum >> 29;
    }
    sum
}
