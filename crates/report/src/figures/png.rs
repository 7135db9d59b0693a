//! SVG to PNG: the same pixels on every machine, because the font is embedded and no other is used.

use super::Figure;
#[cfg(feature = "png")]
use super::lettering::outlined;
#[cfg(feature = "png")]
use resvg::tiny_skia::{Pixmap, Transform};
#[cfg(feature = "png")]
use resvg::usvg::{Options, Tree};

/// The crate was built without its feature `png`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this program was built without PNG figures\n  hint: use a name that ends in .svg, or the program of `make build`"
)]
pub struct NoPng;

impl NoPng {
    /// Whether pictures can be made, to be asked before the work for one begins.
    ///
    /// # Errors
    /// Without the feature `png` they cannot.
    pub fn check() -> Result<(), NoPng> {
        match cfg!(feature = "png") {
            true => Ok(()),
            false => Err(NoPng),
        }
    }
}

/// No side of a picture is longer; beyond this it would be a mistake.
#[cfg(feature = "png")]
const MAX_SIDE: f32 = 8192.0;

impl Figure {
    /// The figure as a PNG, `scale` pixels for each pixel of the SVG: 2 for a screen, 4 for print at
    /// 600 dpi and a text width of 6 inches. The scale is held to what makes a picture of 1 to
    /// 8192 pixels a side.
    ///
    /// # Errors
    /// Without the feature `png` there is none.
    #[cfg(not(feature = "png"))]
    pub fn png(&self, _scale: f32) -> Result<Vec<u8>, NoPng> {
        Err(NoPng)
    }

    /// The figure as a PNG, `scale` pixels for each pixel of the SVG: 2 for a screen, 4 for print at
    /// 600 dpi and a text width of 6 inches. The scale is held to what makes a picture of 1 to
    /// 8192 pixels a side.
    ///
    /// # Errors
    /// None: without the feature `png` there would be no picture.
    #[cfg(feature = "png")]
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, NoPng> {
        let svg = outlined(&self.svg).expect("figures are valid XML");
        let tree = Tree::from_str(&svg, &Options::default()).expect("figures are valid SVG");
        let size = tree.size();
        let longest = size.width().max(size.height());
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let scale = scale.clamp(1.0 / size.width().min(size.height()), MAX_SIDE / longest);
        let pixels = |side: f32| ((side * scale).round() as u32).max(1);
        let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
            .expect("both sides are between 1 and MAX_SIDE");
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut picture.as_mut());
        Ok(picture
            .encode_png()
            .expect("a picture in memory can be encoded"))
    }
}
