//! What a function returns.

/// The names of the values that the last operation of a body returns, without their signs; empty
/// where that isn't `return` as it is usually written.
pub(crate) fn values(body: &str) -> Vec<&str> {
    const NAME: &str = "return";
    // Each looks through its line, which can be long.
    const TRIED: usize = 16;
    let last = body.rmatch_indices(NAME).take(TRIED).find_map(|(at, _)| {
        let line = body[..at].rsplit('\n').next().unwrap_or("");
        // In quotes and behind `//` it is no operation.
        let is_code = !line.contains("//") && line.matches('"').count() % 2 == 0;
        let before = line.strip_suffix("func.").unwrap_or(line);
        let last = before.chars().next_back();
        let begins = !last.is_some_and(|c| !c.is_whitespace() && c != '{');
        let rest = &body[at + NAME.len()..];
        let ends = rest.starts_with(char::is_whitespace);
        (is_code && begins && ends).then_some(rest)
    });
    let Some((values, _types)) = last.and_then(|rest| rest.split_once(':')) else {
        return Vec::new();
    };
    let values = values
        .split(',')
        .map(|value| value.trim().strip_prefix('%'));
    values.collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn the_last_return_counts() {
        for (body, wanted) in [
            ("{ return %a : tensor<f32> }", &["a"][..]),
            ("{\n  func.return %arg0, %1#0 : tensor<f32>, tensor<f32> loc(#loc)\n}", &["arg0", "1#0"]),
            ("{\n %r = \"stablehlo.reduce\"(%x) ({ stablehlo.return %s : t }) : t\n return %r, %x : t, t\n}", &["r", "x"]),
            ("{ return %a : t // return %b : t\n}", &["a"]),
            ("{ return %a : t loc(\"return %b :\")\n}", &["a"]),
            ("{ return }", &[]),
            ("{ return\n %a :\n t }", &["a"]),
            ("{ %return = stablehlo.add %a, %b : t }", &[]),
            ("{ \"func.return\"(%a) : (t) -> () }", &[]),
            ("{}", &[]),
            ("", &[]),
        ] {
            assert_eq!(values(body), wanted, "{body}");
        }
    }
}
