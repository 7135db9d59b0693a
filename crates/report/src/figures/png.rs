//! SVG to PNG: the same pixels on every machine, because the font is embedded and no other is used.

use super::Figure;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::{Arc, OnceLock};

/// No side of a picture is longer; beyond this it would be a mistake.
const MAX_SIDE: f32 = 8192.0;

impl Figure {
    /// The figure as a PNG, `scale` pixels for each pixel of the SVG: 2 for a screen, 4 for print at
    /// 600 dpi and a text width of 6 inches. The scale is held to what makes a picture of 1 to
    /// 8192 pixels a side.
    pub fn png(&self, scale: f32) -> Vec<u8> {
        let options = Options {
            fontdb: fonts(),
            ..Options::default()
        };
        let tree = Tree::from_str(&self.svg, &options).expect("figures are valid SVG");
        let size = tree.size();
        let longest = size.width().max(size.height());
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let scale = scale.clamp(1.0 / size.width().min(size.height()), MAX_SIDE / longest);
        let pixels = |side: f32| ((side * scale).round() as u32).max(1);
        let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
            .expect("both sides are between 1 and MAX_SIDE");
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut picture.as_mut());
        picture
            .encode_png()
            .expect("a picture in memory can be encoded")
    }
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let make = || {
        let mut fonts = Database::new();
        // The second one has characters that the first one lacks.
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
        let family = fonts
            .faces()
            .next()
            .and_then(|face| face.families.first())
            .map(|(name, _)| name.clone())
            .expect("the embedded font has a name");
        fonts.set_sans_serif_family(family);
        Arc::new(fonts)
    };
    Arc::clone(FONTS.get_or_init(make))
}
