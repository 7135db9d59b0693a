//! A command line as text: words quoted so that a shell reads them as they were given, times as flags take them.

#![forbid(unsafe_code)]

/// The arguments as one line for a POSIX shell.
pub fn quoted(arguments: &[String]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

fn quote(word: &str) -> String {
    // A comma means something to a shell only between braces; lists read better without quotes.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // In single quotes every other character stands for itself; shlex divides words at some of them.
    if !word.contains(['\'', '\0']) {
        return format!("'{word}'");
    }
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        // No argument holds a zero byte (exec ends it there); a run.json that was edited may.
        Err(_) => quote(&word.replace('\0', "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_given() {
        let words = [
            "wiregauge",
            "exchange",
            "tcp://127.0.0.1:7700",
            "--store",
            "my runs/it's $HOME",
            "--require",
            "p99<1ms",
            "",
            "a\nb",
            "*?[x]~#!&;|`\\\"",
        ];
        let line = quoted(&words.map(str::to_owned));
        let read = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s\\001' {line}")])
            .output()
            .expect("a shell");
        let read = String::from_utf8(read.stdout).expect("text");
        let read: Vec<&str> = read.trim_end_matches('\u{1}').split('\u{1}').collect();
        assert_eq!(read, words);
    }

    #[test]
    fn ordinary_words_stay_as_they_are() {
        let words = ["wiregauge", "exchange", "--in", "48,1000", "--depth=4"];
        assert_eq!(
            quoted(&words.map(str::to_owned)),
            "wiregauge exchange --in 48,1000 --depth=4"
        );
        assert_eq!(quoted(&["a\0b".to_owned()]), "ab");
        let plant = quoted(&["1000/(s^2+s)".to_owned()]);
        assert_eq!(plant, "'1000/(s^2+s)'");
    }
}
