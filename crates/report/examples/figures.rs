//! Draws all figures of runs into a directory: `figures DIR RUN...`.
use wiregauge_report::{Subject, figures, told::Told};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().expect("a directory");
    std::fs::create_dir_all(&dir).expect("make the directory");
    let subjects: Vec<Subject> = arguments
        .map(|path| {
            let label = path.rsplit('/').next().unwrap_or("run").to_owned();
            let run = wiregauge_run::AnyRun::open(path.as_ref()).expect("open the run");
            Subject::load(label, run, Told::default(), &|_| {})
        })
        .collect();
    for figure in figures::of(&subjects) {
        let path = format!("{dir}/{}", figure.name);
        println!(
            "{path} {} B: {}. {}",
            figure.svg.len(),
            figure.title,
            figure.caption
        );
        std::fs::write(format!("{path}.svg"), &figure.svg).expect("write");
        std::fs::write(format!("{path}.png"), figure.png(1.5)).expect("write");
    }
}
