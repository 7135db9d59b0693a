//! Temporary.
use std::path::Path;
use wiregauge_report::{Subject, figures, page, told::Told};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let subjects: Vec<Subject> = args[1..].iter().map(|dir| {
        let run = wiregauge_run::AnyRun::open(Path::new(dir)).unwrap();
        let label = run.stored().name();
        let told = Told { heading: vec!["heading".into()], warnings: vec!["A warning. Try --this.".into()], command: "wiregauge exchange".into(), ..Told::default() };
        Subject::load(label, run, told, &|_| {})
    }).collect();
    let t = std::time::Instant::now();
    let figs = figures::of(&subjects);
    eprintln!("figures {} {:?}: {:?}", figs.len(), t.elapsed(), figs.iter().map(|f| (f.name.clone(), f.svg.len())).collect::<Vec<_>>());
    let t = std::time::Instant::now();
    let html = page::html(&subjects, &figs, &[]);
    eprintln!("page {} {:?}", html.len(), t.elapsed());
    std::fs::write(&args[0], html).unwrap();
}
