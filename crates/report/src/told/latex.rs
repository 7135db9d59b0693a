//! A run as LaTeX tables for a paper: a fragment for a preamble with `\usepackage{booktabs}`.

use super::{Table, Told};
use std::fmt::Write;
use wiregauge_run::AnyRun;

impl Table {
    /// The table as a float with its title as caption; `source` goes below it.
    pub fn latex(&self, source: &str) -> String {
        let right = "r".repeat(self.columns.len());
        float(&self.title, Some(&self.columns), &self.rows, &right, source)
    }
}

/// Every table of a run. What deserves a second look stands in comments, so that whoever takes a
/// table into a paper reads it.
pub(super) fn document(run: &AnyRun, told: &Told) -> String {
    let stored = run.stored();
    let conditions = stored.conditions();
    let source = format!(
        "Source: run {}, measured with wiregauge {} at {}.",
        stored.name(),
        conditions.version,
        conditions.started
    );
    let mut out = String::new();
    let mut remark = |text: &str| {
        let _ = writeln!(out, "% {}", comment(text));
    };
    remark("Needs \\usepackage{booktabs}.");
    for line in &told.heading {
        remark(line);
    }
    remark(&format!("measured with: {}", told.command));
    for warning in &told.warnings {
        remark(&format!("warning: {warning}"));
    }
    if let Some(error) = &told.failed {
        remark(&format!("the run failed: {error}"));
    }
    if stored.points() == 0 {
        remark("No point was finished.");
    }
    for table in told.tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = write!(out, "\n{}", table.latex(&source));
    }
    let rows: Vec<Vec<String>> = told
        .conditions
        .iter()
        .flat_map(|(title, values)| {
            let titles = std::iter::once(title.as_str()).chain(std::iter::repeat(""));
            let rows = titles.zip(values);
            rows.map(|(title, (name, value))| vec![title.into(), name.clone(), value.clone()])
        })
        .collect();
    // Long values, such as a kernel's version, break within their column.
    let spec = "llp{0.55\\linewidth}";
    let _ = write!(out, "\n{}", float("Conditions", None, &rows, spec, &source));
    out
}

fn float(
    title: &str,
    columns: Option<&[String]>,
    rows: &[Vec<String>],
    spec: &str,
    source: &str,
) -> String {
    let cells = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("    {} \\\\\n", cells.join(" & "))
    };
    let head = columns.map_or(String::new(), |columns| cells(columns) + "    \\midrule\n");
    let body: String = rows.iter().map(|row| cells(row)).collect();
    format!(
        "\\begin{{table}}[htbp]\n  \\centering\n  {}\n  \\caption{{{}}}\n  \
         \\begin{{tabular}}{{@{{}}{spec}@{{}}}}\n    \\toprule\n{head}{body}    \\bottomrule\n  \
         \\end{{tabular}}\n\n  \\smallskip\n  {{\\footnotesize {}\\par}}\n\\end{{table}}\n",
        size(columns.unwrap_or_default(), rows),
        escape(title),
        escape(source)
    )
}

/// Type small enough for the columns to stand beside each other on a page where that can be.
fn size(columns: &[String], rows: &[Vec<String>]) -> &'static str {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let cells = cells.chain(columns.get(at..=at).unwrap_or_default());
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let characters: usize = (0..columns.len()).map(width).sum();
    match characters {
        0..=50 => "\\small",
        51..=65 => "\\footnotesize\\setlength{\\tabcolsep}{4pt}",
        66..=85 => "\\scriptsize\\setlength{\\tabcolsep}{3pt}",
        // Too wide for one column of text even so: for table* or a page on its side.
        _ => "\\tiny\\setlength{\\tabcolsep}{2pt}",
    }
}

/// Text on one line that a comment cannot be left from.
fn comment(text: &str) -> String {
    let one = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(one).collect()
}

/// Text that LaTeX sets as it stands. What pdfLaTeX has no glyph for is named by its code point.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '+' if rest.starts_with('-') => {
                rest = &rest[1..];
                out += "$\\pm$";
            }
            '>' if rest.starts_with('=') => {
                rest = &rest[1..];
                out += "$\\geq$";
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            // Straight in any encoding of fonts.
            '"' => out += "{\\ttfamily\\char34}",
            // These melt with their like into dashes and quotation marks.
            '\'' | '`' | '-' | ',' if rest.starts_with(c) => {
                out.push(c);
                out += "{}";
            }
            // At the beginning of a row these would belong to the line break before it.
            '[' => out += "{[}",
            '*' => out += "{*}",
            c if c.is_whitespace() => out.push(' '),
            ' '..='~' => out.push(c),
            'Ð' | 'Þ' | 'ð' | 'þ' => named(&mut out, c),
            'À'..='ÿ' | '°' | '±' | 'µ' => out.push(c),
            c => named(&mut out, c),
        }
    }
    out
}

fn named(out: &mut String, c: char) {
    let _ = write!(out, "(U+{:04X})", u32::from(c));
}
