//! Until crates/model has it.
use serde::Serialize;
use wiregauge_model::{Observation, Setting};
/// Placeholder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkModel {}
impl LinkModel {
    /// Placeholder.
    pub fn fit(_: &[Observation]) -> Result<LinkModel, ()> {
        Err(())
    }
    /// Placeholder.
    pub fn trt_ns(&self, _: Setting) -> f64 {
        1.0
    }
    /// Placeholder.
    pub fn rtt_ns(&self, _: Setting) -> f64 {
        1.0
    }
    /// Placeholder.
    pub fn saturation_depth(&self, _: u32, _: u32) -> Option<f64> {
        None
    }
}
