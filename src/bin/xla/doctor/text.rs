//! What the doctor tells people.

use serde_json::Value;

/// A paragraph on a platform.
pub(super) fn paragraph(found: &Value) -> String {
    let say = |name: &str| found[name].as_str().unwrap_or_default();
    let mut text = format!("{}: {}\n", say("platform"), say("state"));
    if !say("path").is_empty() {
        text += &format!("  {}, by {}\n", say("path"), say("origin"));
    }
    if say("state") != "found" {
        match say("state") {
            "missing" => {
                text += "  looked at\n";
                for place in texts(&found["looked"]) {
                    text += &format!("  - {place}\n");
                }
            }
            _ => text += &format!("  {}\n", say("message")),
        }
        if !say("mend").is_empty() {
            text += &format!("  to mend it: {}\n", say("mend"));
        }
    }
    if !say("api").is_empty() {
        text += &versions(found);
    }
    for device in found["devices"].as_array().into_iter().flatten() {
        text += &of_device(device);
    }
    if !say("note").is_empty() {
        text += &format!("  {}\n", say("note"));
    }
    for missing in found["missing"].as_array().into_iter().flatten() {
        text += &format!(
            "  missing: {}; to get it, run\n    {}\n",
            missing["what"].as_str().unwrap_or_default(),
            missing["command"].as_str().unwrap_or_default()
        );
    }
    text
}

fn versions(found: &Value) -> String {
    let mut text = format!("  API {}", found["api"].as_str().unwrap_or_default());
    match found["stablehlo"]["own"].as_str() {
        Some(own) => {
            let oldest = found["stablehlo"]["oldest"].as_str().unwrap_or_default();
            text += &format!(", StableHLO {oldest} to {own}");
        }
        None => text += ", StableHLO versions not told",
    }
    let extensions = found["extensions"].as_array().into_iter().flatten();
    let extensions = extensions.map(|extension| match extension["name"].as_str() {
        Some(name) => name.to_owned(),
        None => extension["number"].to_string(),
    });
    let extensions: Vec<String> = extensions.collect();
    let extensions = match extensions.is_empty() {
        true => "none".to_owned(),
        false => extensions.join(", "),
    };
    text + &format!("\n  extensions: {extensions}\n")
}

fn of_device(device: &Value) -> String {
    let mut text = format!(
        "  device {}: {}, memory {}",
        device["id"],
        device["kind"].as_str().unwrap_or_default(),
        texts(&device["memories"]).join(" ")
    );
    if let Some(limit) = device["memory"]["bytes_limit"].as_i64() {
        let used = &device["memory"]["bytes_in_use"];
        text += &format!(", {used} of {limit} bytes in use");
    }
    text.push('\n');
    text
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}
