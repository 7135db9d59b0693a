//! A run as LaTeX tables for a paper: a fragment for a preamble with `\usepackage{booktabs}`.

use super::{Table, Tables};
use crate::signs::proper;
use std::fmt::Write;
use wiregauge_run::AnyRun;

impl Table {
    /// The table as a float with its title as caption; `source` goes below it.
    pub fn latex(&self, source: &str) -> String {
        let (size, fits) = size(&self.columns, &self.rows);
        let rows = self.written(escape, quoted);
        let rows: String = rows.iter().map(|cells| row(cells)).collect();
        let heads: Vec<String> = self.columns.iter().map(|head| escape(head)).collect();
        let mut below: Vec<&str> = self.footnotes();
        below.push(source);
        let below = below.join(". ");
        let float = Float {
            title: &self.title,
            source: &below,
            size,
            spec: &"r".repeat(self.columns.len()),
            fits,
            body: format!("{}    \\midrule\n{rows}", row(&heads)),
        };
        float.text()
    }
}

/// Every table of a run. What deserves a second look stands in comments, so that whoever takes a
/// table into a paper reads it.
pub(super) fn document(run: &AnyRun, tables: &Tables) -> String {
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
    let conditions = Float {
        title: "Conditions",
        source: &source,
        size: "\\footnotesize",
        // Long values, such as a kernel's version, break within their column.
        spec: "p{0.36\\linewidth}p{0.6\\linewidth}",
        fits: true,
        body: tables
            .conditions
            .iter()
            .map(|(title, values)| group(title, values))
            .collect::<Vec<String>>()
            .join("    \\addlinespace\n"),
    };
    let _ = write!(out, "\n{}", conditions.text());
    out
}

fn group(title: &str, values: &[(String, String)]) -> String {
    let values = values
        .iter()
        .map(|(name, value)| row(&[quoted(name), quoted(value)]));
    let title = escape(title);
    format!(
        "    \\multicolumn{{2}}{{@{{}}l}}{{\\textit{{{title}}}}} \\\\\n{}",
        values.collect::<String>()
    )
}

/// A row of cells of LaTeX.
fn row(cells: &[String]) -> String {
    format!("    {} \\\\\n", cells.join(" & "))
}

/// A table that finds its own place, between the rules of booktabs.
struct Float<'a> {
    title: &'a str,
    source: &'a str,
    size: &'a str,
    spec: &'a str,
    fits: bool,
    body: String,
}

impl Float<'_> {
    fn text(&self) -> String {
        let Float {
            size, spec, body, ..
        } = self;
        // What is too wide all the same reaches into both margins alike.
        let (open, close) = match self.fits {
            true => ("", ""),
            false => ("\\makebox[\\linewidth]{%\n  ", "}"),
        };
        format!(
            "\\begin{{table}}[htbp]\n  \\centering\n  {size}\n  \\caption{{{}}}\n  \\smallskip\n  \
             {open}\\begin{{tabular}}{{@{{}}{spec}@{{}}}}\n    \\toprule\n{body}    \\bottomrule\n  \
             \\end{{tabular}}{close}\n\n  \\smallskip\n  {{\\footnotesize {}\\par}}\n\\end{{table}}\n",
            escape(self.title),
            escape(self.source)
        )
    }
}

/// Sizes of type with the gap that goes with them: the command, and points a character and a gap take,
/// as measured of tables of runs in Computer Modern.
const SIZES: [(&str, f64, f64); 4] = [
    ("\\small", 4.9, 12.0),
    ("\\footnotesize\\setlength{\\tabcolsep}{4pt}", 4.4, 8.0),
    ("\\scriptsize\\setlength{\\tabcolsep}{3pt}", 3.9, 6.0),
    ("\\tiny\\setlength{\\tabcolsep}{2pt}", 3.4, 4.0),
];

/// The width of text in LaTeX's own article class at 10 pt.
const TEXT_WIDTH: f64 = 345.0;

/// The largest type in which the columns fit beside each other; false if they do in none.
fn size(columns: &[String], rows: &[Vec<String>]) -> (&'static str, bool) {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let cells = cells.chain(columns.get(at..=at).unwrap_or_default());
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let characters = (0..columns.len()).map(width).sum::<usize>() as f64;
    let gaps = columns.len().saturating_sub(1) as f64;
    let fits = |&&(_, character, gap): &&(&str, f64, f64)| {
        characters * character + gaps * gap <= TEXT_WIDTH
    };
    match SIZES.iter().find(fits) {
        Some((command, ..)) => (command, true),
        None => (SIZES[SIZES.len() - 1].0, false),
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
