//! One HTML file that can be mailed: the answer in a sentence, the contents, a summary, then figures, tables, conditions and the
//! command that repeats the run. Everything is inside it, and it forbids itself to fetch anything.
//!
//! Its script is made of the files of `script/`, which `build.rs` joins in this order inside one function: `controls.js`
//! (light and dark, copying), `data.js` (the columns that `data.rs` writes), `plot.js` (axes and units of interactive
//! figures), `forms.js` (their forms), `live.js` (makes figures interactive).
//! A file may use names of those before it.

mod answer;
mod bus;
mod contents;
mod control;
mod cycles;
mod data;
mod differences;
pub(crate) mod escape;
mod live;
mod names;
mod parts;
mod percentiles;
mod sections;
mod summary;
mod theme;
mod uplot;

pub use bus::bus_page;

use crate::Subject;
use crate::figures::Figure;
use crate::tables::ComparisonTables;
use contents::Section;
use escape::text;
use live::live_form;
use std::fmt::Write;
use uplot::{PAGE_HASH, PAGE_SCRIPT, UPLOT, Uplot};

const PAGE_STYLE: &str = include_str!("page.css");

/// The page should stay below this, so that it can be mailed.
const SIZE: usize = 1_000_000;
/// Numbers for the interactive figures take what is left below `SIZE`, within these bounds.
const DATA: std::ops::RangeInclusive<usize> = 60_000..=420_000;

/// True if pages have figures that zoom and tell values: uPlot was there when this was built.
pub const fn is_interactive() -> bool {
    UPLOT.is_some()
}

/// The page for one run, or for several over each other. `comparisons` tell what differs between
/// them; they stand right behind the summary, followed by what the delays mean for a control loop
/// ([`Subject::control`]).
pub fn html(subjects: &[Subject], figures: &[Figure], comparisons: &[ComparisonTables]) -> String {
    let title = sections::title(subjects);
    let (control, before) = control::section(subjects);
    let all = [
        (
            "summary",
            "Summary",
            "",
            sections::summary(subjects, comparisons),
        ),
        (
            "comparison",
            "Comparison",
            "What differs?",
            sections::comparisons(comparisons),
        ),
        (
            "deadline",
            "Control cycles",
            "How many cycles miss their deadline?",
            cycles::section(subjects),
        ),
        (
            "control",
            "Control loop",
            "What is the effect of the delay on the loop?",
            control,
        ),
        ("figures", "Figures", "", sections::figures(figures, before)),
        (
            "tables",
            "Tables",
            "What are all the values?",
            sections::all_tables(subjects),
        ),
        (
            "conditions",
            "Conditions",
            "What were the conditions?",
            sections::conditions(subjects),
        ),
    ];
    let all = all.into_iter().map(Section::new);
    let all: Vec<Section> = all.filter(Section::is_shown).collect();
    let contents = contents::of(&all, figures, before);
    let links: String = all.iter().map(Section::link).collect();
    let body: String = all.iter().map(Section::markup).collect();
    let room = SIZE.saturating_sub(body.len() + 120_000);
    let scripts = scripts(subjects, figures, room.clamp(*DATA.start(), *DATA.end()));
    let mut allowed = format!("'{PAGE_HASH}'");
    if let Some(uplot) = scripts.uplot {
        let _ = write!(allowed, " '{}'", uplot.hash);
    }
    let mut page = String::with_capacity(body.len() + 200_000);
    let style = scripts.uplot.map_or("", |uplot| uplot.style);
    page.push_str(&head(&title, &allowed, style));
    // Behind uPlot's own, so that it can change it.
    let _ = writeln!(page, "<style>\n{PAGE_STYLE}</style>");
    let _ = write!(
        page,
        "<a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n<div class=\"bar\"><nav \
         aria-label=\"Sections\"><div class=\"links\">{links}</div><button type=\"button\" id=\"theme\" \
         hidden></button></nav></div>\n<header>\n<h1>{}</h1>\n{}{}</header>\n<main>\n{contents}{body}</main>\n",
        text(&title),
        sections::answer(&answer::of(subjects, comparisons)),
        sections::headings(subjects),
    );
    page.push_str(&sections::footer(subjects, scripts.uplot, &scripts.note));
    page.push_str(&scripts.markup);
    page.push_str("</body>\n</html>\n");
    page
}

/// The beginning of a page with this title; runs the `allowed` scripts only.
fn head(title: &str, allowed: &str, style: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"wiregauge {}\">\n\
         <title>{}</title>\n<style>\n{}{style}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        text(title),
        theme::css(),
    )
}

struct Scripts {
    uplot: Option<&'static Uplot>,
    markup: String,
    /// What the reader should know of the figures that are drawn by it.
    note: String,
}

fn scripts(subjects: &[Subject], figures: &[Figure], room: usize) -> Scripts {
    let mut markup = String::new();
    let mut note = String::new();
    let wanted = figures.iter().any(|figure| live_form(figure).is_some());
    let uplot = UPLOT.as_ref().filter(|_| wanted);
    if let Some(uplot) = uplot {
        let (data, slices, longest) = data::of(subjects, room);
        let _ = write!(
            markup,
            "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{}</script>\n",
            uplot.script
        );
        note = format!(
            "Zoomable figures show at most {slices} time slices per point, each with its minimum, mean and \
             maximum, and the {longest} longest samples; percentiles and histograms use every sample. The run \
             directory has all samples."
        );
    } else if wanted {
        note =
            "This build of wiregauge has no uPlot, so the figures on this page cannot be zoomed."
                .into();
    }
    let _ = writeln!(markup, "<script>{PAGE_SCRIPT}</script>");
    Scripts {
        uplot,
        markup,
        note,
    }
}
