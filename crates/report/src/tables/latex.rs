//! A run as LaTeX tables for a paper: a fragment for a preamble with `\usepackage{booktabs}`.

use super::{Table, Tables};
use crate::signs::proper;
use std::fmt::Write;
use wiregauge_run::Stored;

impl Table {
    /// The table as a float with its title as caption; `source` goes below it.
    pub fn latex(&self, source: &str) -> String {
        let heads: Vec<String> = self.columns.iter().map(|head| escape(head)).collect();
        let rows = self.written(escape, quoted);
        let rows: String = rows.iter().map(|cells| row(cells)).collect();
        let mut below = self.below();
        below.push(source);
        // What is too wide all the same reaches into both margins alike.
        format!(
            "\\begin{{table}}[htbp]\n  {}\n  \\caption{{{}}}\n  \\smallskip\n  \
             \\makebox[\\linewidth]{{%\n  \\begin{{tabular}}{{@{{}}{}@{{}}}}\n    \\toprule\n{}    \
             \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}}}\n\n  \\smallskip\n  {{\\footnotesize {}\\par}}\n\\end{{table}}\n",
            size(self.width()),
            escape(&self.title),
            "r".repeat(self.columns.len()),
            row(&heads),
            escape(&below.join(". "))
        )
    }
}

/// Every table of a run. What deserves a second look stands in comments, so that whoever takes a
/// table into a paper reads it.
pub(super) fn document(stored: &dyn Stored, tables: &Tables) -> String {
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
    if let Some(ending) = &tables.ending {
        remark(ending);
    }
    remark("Needs \\usepackage{booktabs}.");
    for line in &tables.heading {
        remark(&proper(line));
    }
    for line in &tables.note {
        remark(line);
    }
    remark(&format!("measured with: {}", tables.command));
    for warning in &tables.warnings {
        remark(&proper(&format!("{}: {warning}", warning.code)));
    }
    if stored.points() == 0 {
        remark("No point was finished.");
    }
    for table in tables.tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = write!(out, "\n{}", table.latex(&source));
    }
    out
}

/// A row of cells of LaTeX.
fn row(cells: &[String]) -> String {
    format!("    {} \\\\\n", cells.join(" & "))
}

/// The largest type in which a table of so many characters fits into a page of 345 pt, as measured of tables of runs in
/// Computer Modern, with the gap between columns that goes with it.
fn size(width: usize) -> &'static str {
    match width {
        0..=68 => "\\small",
        69..=82 => "\\footnotesize\\setlength{\\tabcolsep}{4pt}",
        83..=94 => "\\scriptsize\\setlength{\\tabcolsep}{3pt}",
        _ => "\\tiny\\setlength{\\tabcolsep}{2pt}",
    }
}

/// Text on one line that a comment cannot be left from.
fn comment(text: &str) -> String {
    let one = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(one).collect()
}

/// Words of this program that LaTeX sets as they stand, with proper signs.
pub(super) fn escape(text: &str) -> String {
    quoted(&proper(text))
}

/// Words of a user or a device that LaTeX sets as they stand. What pdfLaTeX has no glyph for is named by its code point.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '±' => out += "$\\pm$",
            '≥' => out += "$\\geq$",
            '≤' => out += "$\\leq$",
            'µ' => out += "$\\mu$",
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
            'À'..='ÿ' | '°' => out.push(c),
            c => named(&mut out, c),
        }
    }
    out
}

fn named(out: &mut String, c: char) {
    let _ = write!(out, "(U+{:04X})", u32::from(c));
}
