//! The command line of the tray application.

/// What the process was started with. Unknown arguments are left to the toolkit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `--hidden`: start in the tray without a window, as at login.
    pub(crate) hidden: bool,
    /// `--quit`: end the running instance. The way out where a desktop shows no tray.
    pub(crate) quit: bool,
}

pub(crate) const HIDDEN: &str = "--hidden";
pub(crate) const QUIT: &str = "--quit";

impl Options {
    /// Reads arguments, the program's own name among them.
    pub(crate) fn read<S: AsRef<str>>(args: impl IntoIterator<Item = S>) -> Options {
        let mut options = Options::default();
        for arg in args {
            match arg.as_ref() {
                HIDDEN => options.hidden = true,
                QUIT => options.quit = true,
                _ => {}
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_knows_and_ignores_the_rest() {
        let read = |args: &[&str]| Options::read(args);
        assert_eq!(read(&["benchwarmers"]), Options { hidden: false, quit: false });
        assert_eq!(read(&["benchwarmers", "--hidden"]), Options { hidden: true, quit: false });
        assert_eq!(read(&["benchwarmers", "--quit", "--x11"]), Options { hidden: false, quit: true });
    }
}
