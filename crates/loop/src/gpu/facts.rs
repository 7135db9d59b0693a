//! What a GPU is and how it is connected, for the conditions of a run.

use super::driver::Driver;

/// Names and values; what the system does not tell is left out.
pub(super) fn settings(driver: &Driver) -> Vec<(String, String)> {
    let mut facts = vec![
        (
            "gpu".to_string(),
            format!(
                "{} (compute capability {}, {} multiprocessors)",
                driver.name, driver.capability, driver.multiprocessors
            ),
        ),
        ("gpu driver".into(), driver_version(&driver.cuda)),
    ];
    if let Some(bus) = &driver.bus {
        facts.push(("gpu bus".into(), place(bus)));
    }
    facts
}

/// The kernel's module knows its own version; the library tells for which CUDA it is.
fn driver_version(cuda: &str) -> String {
    let version = std::fs::read_to_string("/sys/module/nvidia/version");
    match version.as_deref().map(str::trim) {
        Ok(version) if !version.is_empty() => format!("{version}, CUDA {cuda}"),
        _ => format!("CUDA {cuda}"),
    }
}

/// Where it is and how fast the link is, now and at most: an idle GPU slows its link down.
fn place(bus: &str) -> String {
    let of = |name: &str| {
        let path = format!("/sys/bus/pci/devices/{bus}/{name}");
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.trim().trim_end_matches(" PCIe").to_owned())
    };
    let link = |which: &str| {
        let speed = of(&format!("{which}_link_speed"))?;
        let width = of(&format!("{which}_link_width"))?;
        Some(format!("{speed} x{width}"))
    };
    match (link("current"), link("max")) {
        (Some(now), Some(most)) if now == most => format!("PCIe {bus}, {now}"),
        (Some(now), Some(most)) => format!("PCIe {bus}, {now} when opened, at most {most}"),
        _ => format!("PCIe {bus}"),
    }
}
