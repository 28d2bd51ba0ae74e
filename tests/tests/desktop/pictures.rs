//! Screenshots, kept to be looked at, and compared where the page cannot be asked.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::session;

/// The whole desktop, as `tests/artefacts/desktop/<name>.png`.
pub fn desktop_now(name: &str) -> PathBuf {
    take("root", name)
}

/// One window, by its id, as `tests/artefacts/desktop/<name>.png`.
pub fn window_now(window: &str, name: &str) -> PathBuf {
    take(window, name)
}

fn take(what: &str, name: &str) -> PathBuf {
    let path = session::artefacts().join(format!("{name}.png"));
    let status = Command::new("import").args(["-window", what]).arg(&path).status();
    assert!(status.is_ok_and(|status| status.success()), "no screenshot {name}");
    path
}

/// How many of a hundred pixels differ visibly between two pictures of a window.
pub fn difference(one: &Path, other: &Path) -> f64 {
    let size = told("identify", &["-format", "%w %h"], &[one]).0;
    if size != told("identify", &["-format", "%w %h"], &[other]).0 {
        return 100.0;
    }
    let pixels: f64 = size.split(' ').map(|side| side.parse::<f64>().expect("a size")).product();
    let said = told("compare", &["-metric", "AE", "-fuzz", "8%"], &[one, other, Path::new("null:")]).1;
    let different = said.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    different.unwrap_or_else(|| panic!("compare said: {said}")) / pixels * 100.0
}

/// Whether a page is drawn in the picture of a window: a blank one has next to no colours.
pub fn lively(picture: &Path) -> bool {
    lively_part(picture, "100%x100%+0+0")
}

/// The same of a part of a picture: `320x80+950+55`.
pub fn lively_part(picture: &Path, part: &str) -> bool {
    let output =
        Command::new("convert").arg(picture).args(["-crop", part, "-format", "%k", "info:"]).output();
    let colours = String::from_utf8_lossy(&output.expect("ImageMagick runs").stdout).trim().parse::<u32>();
    colours.is_ok_and(|colours| colours > 40)
}

/// What an ImageMagick program says on its two streams.
fn told(program: &str, options: &[&str], pictures: &[&Path]) -> (String, String) {
    let output = Command::new(program).args(options).args(pictures).output().expect("ImageMagick runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
