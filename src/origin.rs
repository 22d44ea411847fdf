//! Who compiled an executable: plugin, platform and processor.

use prost::Message;

use crate::client::Client;
use crate::plugin::Plugin;

/// What must be the same where an executable is loaded again. The versions that plugins
/// state say too little: all CPU plugins call theirs `cpu`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Origin {
    #[prost(string, tag = "1")]
    pub platform_name: String,
    #[prost(string, tag = "2")]
    pub platform_version: String,
    #[prost(int32, tag = "3")]
    pub api_major: i32,
    #[prost(int32, tag = "4")]
    pub api_minor: i32,
    /// Tells the plugin's file from other builds; none where it came without a file.
    #[prost(fixed64, optional, tag = "5")]
    pub build: Option<u64>,
    /// Empty unless the platform is the processor.
    #[prost(string, tag = "6")]
    pub processor: String,
}

impl Origin {
    pub(crate) fn here(client: &Client) -> Origin {
        Origin::of(
            client.plugin(),
            client.platform_name(),
            client.platform_version(),
        )
    }

    pub(crate) fn of(plugin: &Plugin, platform_name: &str, platform_version: &str) -> Origin {
        let (api_major, api_minor) = plugin.api_version();
        let on_cpu = platform_name == "cpu";
        Origin {
            platform_name: platform_name.to_owned(),
            platform_version: platform_version.to_owned(),
            api_major,
            api_minor,
            build: plugin.build(),
            processor: if on_cpu { processor() } else { String::new() },
        }
    }
}

/// The processor's abilities that a compiler makes use of.
#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let abilities = [
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("avx", std::is_x86_feature_detected!("avx")),
        ("f16c", std::is_x86_feature_detected!("f16c")),
        ("fma", std::is_x86_feature_detected!("fma")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512bw", std::is_x86_feature_detected!("avx512bw")),
        ("avx512dq", std::is_x86_feature_detected!("avx512dq")),
        ("avx512vl", std::is_x86_feature_detected!("avx512vl")),
        ("avx512cd", std::is_x86_feature_detected!("avx512cd")),
        ("avx512vnni", std::is_x86_feature_detected!("avx512vnni")),
        ("avx512bf16", std::is_x86_feature_detected!("avx512bf16")),
        ("gfni", std::is_x86_feature_detected!("gfni")),
        ("vaes", std::is_x86_feature_detected!("vaes")),
    ];
    let present = abilities.iter().filter(|(_, present)| *present);
    let names: Vec<&str> = present.map(|(name, _)| *name).collect();
    format!("x86_64 {}", names.join(" "))
}

/// The processor's abilities that a compiler makes use of.
#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    std::env::consts::ARCH.to_owned()
}
