//! Tables written down for other readers are read back here, with names that try to break out.

use super::Table;
use super::{latex, markdown};

/// A table whose every text is hostile to some reader.
fn hostile() -> Table {
    let mut table = Table::new("a | <b> \\ $x_1$ %", &["IN B", "a|b", "*c*", "d\n\\\\"]);
    table.row(
        ["1", "2.5 (1.1 .. ?)", "+-0.1", "x & y"]
            .map(str::to_owned)
            .to_vec(),
    );
    table.row(
        ["|", "`code`|", "</td><script>", "\\end{tabular}"]
            .map(str::to_owned)
            .to_vec(),
    );
    table.row(
        ["#", "{", "}", "\u{7}\u{4e2d}\""]
            .map(str::to_owned)
            .to_vec(),
    );
    table
}

/// The cells of a line of Markdown: what GitHub takes for the end of one is a bar without a
/// backslash before it.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut chars = line.strip_prefix('|').expect("a row begins so").chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => cell.extend(chars.next()),
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    assert_eq!(cell, "", "a row ends with a bar: {line}");
    cells
}

#[test]
fn every_row_of_markdown_has_as_many_cells_as_there_are_columns() {
    let text = hostile().markdown();
    let (table, note) = text.split_once("\n\n").expect("a footnote");
    assert!(note.starts_with("?: too few independent"), "{note}");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 2 + 3);
    for line in &lines {
        assert_eq!(cells(line).len(), 4, "{line}");
        assert_eq!(line.chars().count(), lines[0].chars().count(), "aligned");
    }
    assert_eq!(cells(lines[0])[1], "a|b");
    assert!(cells(lines[1]).iter().all(|rule| rule.ends_with("-:")));
    assert_eq!(cells(lines[2])[1], "2.5 (1.1 .. ?)");
    assert_eq!(cells(lines[3])[0], "|");
    assert!(
        !text.contains("<script>") && !text.contains('\u{7}'),
        "{text}"
    );
}

#[test]
fn a_warning_stays_one_item_of_its_list() {
    for text in ["- a", "+ a", "1. a", "12) a", "> a", "=", "# a"] {
        let line = markdown::line_of(text);
        let first = line.trim_start_matches(|c: char| c.is_ascii_digit());
        assert!(first.starts_with(['\\', '&']), "{line}");
    }
    assert_eq!(markdown::line_of("10.5 ms, 1 +-0.2"), "10\\.5 ms, 1 ±0.2");
    let text = markdown::escape("# no heading\n- no item `x` _y_ SCHED_OTHER");
    assert_eq!(text, "\\# no heading - no item \\`x\\` \\_y_ SCHED_OTHER");
}

/// Columns of a row of LaTeX: ampersands that are not escaped.
fn ampersands(line: &str) -> usize {
    line.replace("\\&", "").matches('&').count()
}

#[test]
fn every_row_of_latex_has_as_many_cells_as_there_are_columns() {
    let text = hostile().latex("Source: 100 % of run_1 & more");
    assert!(text.contains("\\begin{tabular}{@{}rrrr@{}}"), "{text}");
    let rows = text.lines().filter(|line| line.ends_with("\\\\"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 1 + 3);
    for row in &rows {
        assert_eq!(ampersands(row), 3, "{row}");
    }
    for rule in ["\\toprule", "\\midrule", "\\bottomrule"] {
        assert_eq!(text.matches(rule).count(), 1, "{text}");
    }
    assert_eq!(text.matches("\\end{tabular}").count(), 1, "{text}");
    assert!(
        text.contains("2.5 (1.1 .. ?) & $\\pm$0.1 & x \\& y"),
        "{text}"
    );
    assert!(text.contains("100 \\% of run\\_1 \\& more"), "{text}");
}

#[test]
fn latex_opens_no_brace_that_it_does_not_close() {
    let nasty: String = (' '..='~').chain("ÿ€Ð\u{202e}\n".chars()).collect();
    let text = latex::escape(&nasty);
    let bare = text.replace("\\{", "").replace("\\}", "");
    let mut open = 0i32;
    for c in bare.chars() {
        open += i32::from(c == '{') - i32::from(c == '}');
        assert!(open >= 0, "{text}");
    }
    assert_eq!(open, 0, "{text}");
    // All that is special is behind a backslash, or gone.
    for special in ["%", "#", "&", "_"] {
        assert_eq!(
            text.matches(special).count(),
            text.matches(&format!("\\{special}")).count(),
            "{special} in {text}"
        );
    }
    assert!(text.contains("(U+20AC)") && !text.contains('€'), "{text}");
    assert_eq!(latex::escape("--count"), "-{}-count");
}

#[test]
fn html_says_what_is_a_head_and_lets_no_markup_in() {
    let text = hostile().html();
    assert_eq!(text.matches("<th scope=\"col\">").count(), 4);
    assert_eq!(text.matches("<td>").count(), 4 * 3);
    assert_eq!(text.matches("<tr>").count(), 1 + 3);
    assert!(
        !text.contains("<script>") && text.contains("&lt;script&gt;"),
        "{text}"
    );
    let (text, note) = text.split_once("</table>").expect("a table");
    assert!(note.contains("<p><small>?: too few independent"), "{note}");
    let table = format!("{text}</table>");
    let tree = roxmltree::Document::parse(&table).expect("it is well-formed");
    let cells = tree.descendants().filter(|node| node.has_tag_name("td"));
    let cells: Vec<&str> = cells.map(|cell| cell.text().unwrap_or_default()).collect();
    assert_eq!(cells[6], "</td><script>");
}

#[test]
fn words_of_a_user_or_a_device_are_written_as_they_are_and_have_no_footnote() {
    let mut table = Table::new("RTT in us", &["query", "p50"]).quoting(&["query"]);
    for query in ["WAIT 5 us", "A+-1>=2", "-", "?", "1 (2 .. ?)"] {
        table.row(vec![query.into(), "12.34".into()]);
    }
    assert_eq!(table.footnotes(), [""; 0]);
    let markdown = table.markdown();
    let latex = table.latex("");
    let html = table.html();
    assert!(markdown.contains("|  WAIT 5 us |"), "{markdown}");
    assert!(markdown.contains("A+-1&gt;=2 |"), "{markdown}");
    assert!(latex.contains("WAIT 5 us &"), "{latex}");
    assert!(latex.contains("A+-1\\textgreater{}=2 &"), "{latex}");
    assert!(html.contains("<td>WAIT 5 us</td>"), "{html}");
    assert!(html.contains("<td>A+-1&gt;=2</td>"), "{html}");
    // Those of the program have their signs.
    assert!(html.contains("RTT in µs"), "{html}");
}

#[test]
fn each_mark_in_a_table_is_explained_below_it_once() {
    let notes = |head: &str, cells: &[&str]| {
        let mut table = Table::new("", &["depth", head]);
        for cell in cells {
            table.row(vec!["1".into(), (*cell).into()]);
        }
        table.footnotes().join("; ")
    };
    assert_eq!(notes("p99", &["1.2", "0.3"]), "");
    let wide = notes("p99", &["41.80 (16.6 .. 2473)"]);
    assert!(wide.starts_with("(low .. high): 95 %"), "{wide}");
    assert_eq!(notes("peaks", &["50.00 % at 2.0 (1.9 .. 2.1)"]), "");
    for (head, cell) in [
        ("p99", "2 (1 .. ?)"),
        ("p99", "? .. 3"),
        ("95 % CI", "?"),
        ("to", "?"),
    ] {
        let notes = notes(head, &[cell, cell]);
        assert!(notes.contains("?: too few"), "{head}: {notes}");
        let has_interval = cell.contains('(');
        assert_eq!(
            notes.starts_with("(low .. high): "),
            has_interval,
            "{notes}"
        );
        assert_eq!(notes.matches("?:").count(), 1, "{notes}");
    }
    assert!(notes("lost B", &["?"]).contains("did not report"));
    assert!(notes("TRT", &["-"]).starts_with("-: not defined"));
}
