//! One HTML file about a capture of a USB bus: its tables and sentences, and the frames with their packets, which
//! zoom. Without scripts the frames are a picture.

use super::escape::text;
use super::uplot::{BUS_HASH, BUS_SCRIPT};
use super::{head, theme};
use crate::figures::{BUS_KINDS, of_bus};
use serde_json::json;
use std::fmt::Write;
use wiregauge_capture::Picture;

const STYLE: &str = include_str!("page.css");

/// Frames of the picture that is seen without scripts.
const DRAWN: usize = 32;

/// The page of a capture of this name; `words` are its tables and sentences as they are printed.
pub fn bus_page(name: &str, words: &str, picture: &Picture) -> String {
    let figure = of_bus(&Picture {
        rows: picture.rows.iter().take(DRAWN).cloned().collect(),
        ..picture.clone()
    });
    let style = format!(
        "{STYLE}#frames canvas {{ width: 100%; height: {}px; touch-action: pan-y; cursor: grab; }}\n\
         main > section > pre {{ overflow-x: auto; }}\n\
         .key {{ display: inline-block; width: 1.6em; height: .8em; margin: 0 .4em 0 1em; }}\n",
        36 + 16 * picture.rows.len()
    );
    let mut page = head(name, &format!("'{BUS_HASH}'"), &style);
    let _ = write!(
        page,
        "<header>\n<h1>{}</h1>\n</header>\n<main>\n",
        text(name)
    );
    let _ = write!(
        page,
        "<section>\n<h2>What limits</h2>\n<pre>{}</pre>\n</section>\n<section>\n<h2>Packets</h2>\n<p>Each row is a frame, each bar a packet: {} frames. Zoom with the buttons, with + and \
         -, or with Ctrl and the wheel; move by dragging.</p>\n<p>",
        text(words),
        picture.rows.len()
    );
    for (_, kind, colour) in BUS_KINDS {
        let colour = theme::variable(colour);
        let _ = write!(
            page,
            "<span class=\"key\" style=\"background:var(--{colour})\"></span>{kind}"
        );
    }
    let _ = write!(
        page,
        "</p>\n<p id=\"tools\" hidden><button type=\"button\" id=\"in\">+</button> <button type=\"button\" \
         id=\"out\">\u{2212}</button> <button type=\"button\" id=\"all\">whole frame</button> <span id=\"spot\" \
         aria-live=\"polite\"></span></p>\n<figure><div class=\"drawn\" id=\"frames\" data-label=\"Frames of the bus with \
         their packets\">{}</div></figure>\n</section>\n</main>\n",
        figure.svg
    );
    let _ = write!(
        page,
        "<script type=\"application/json\" id=\"packets\">{}</script>\n<script>{BUS_SCRIPT}</script>\n</body>\n</html>\n",
        data(picture)
    );
    page
}

/// What the script draws. Numbers and fixed names only, so nothing ends the element early.
fn data(picture: &Picture) -> String {
    let kinds: Vec<_> = BUS_KINDS
        .iter()
        .map(|(_, name, colour)| json!({ "name": name, "colour": theme::variable(colour) }))
        .collect();
    let number = |kind| BUS_KINDS.iter().position(|(of, ..)| *of == kind);
    let rows: Vec<_> = picture
        .rows
        .iter()
        .map(|row| {
            let bars = row.bars.iter();
            let bars = bars.map(|bar| json!([bar.begin_ns, bar.length_ns, number(bar.kind)]));
            json!({ "begin_ns": row.begin_ns, "bars": bars.collect::<Vec<_>>() })
        })
        .collect();
    json!({ "frame_ns": picture.frame_ns, "kinds": kinds, "rows": rows }).to_string()
}
