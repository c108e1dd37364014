//! Instruction files at the start of every conversation through the proxy.
//!
//! Owns: the two folders, and safe reading of unknown files in them (a link, a FIFO, a device, an endless file). Never: the
//! choice of files, or their maximum length (`context::bootstrap` decides).

mod roots;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use self::roots::InstructionRoots;
use crate::config::{Config, Dangerous};
use context::bootstrap::{self, Danger, Loaded, Policy};

/// The instruction files of the configured folder and of the root's folder.
#[derive(Debug)]
pub(crate) struct InstructionFiles {
    folders: Vec<PathBuf>,
    /// Empty: the known names.
    names: Vec<String>,
    danger: Danger,
    /// Problems that are in the log already.
    told: Mutex<BTreeSet<String>>,
}

impl InstructionFiles {
    /// The configured folder, if there is one, and then the root's folder.
    pub(crate) fn new(config: &Config, root: &Path) -> Self {
        let configured = &config.proxy.instructions;
        let configured = (!configured.is_empty()).then(|| PathBuf::from(configured));
        let folders = configured.into_iter().chain([root.join("instructions")]);
        Self {
            folders: folders.collect(),
            names: config.proxy.instruction_files.clone(),
            danger: match config.context.dangerous_instructions {
                Dangerous::Report => Danger::Report,
                Dangerous::Refuse => Danger::Drop,
            },
            told: Mutex::default(),
        }
    }
}

impl proxy::Instructions for InstructionFiles {
    fn read(&self, chars_max: usize) -> String {
        let loaded = self.load(chars_max);
        for note in &loaded.notes {
            self.tell(format!(
                "instruction file {} is not used: {}",
                note.path.display(),
                note.what
            ));
        }
        for section in &loaded.sections {
            let path = section.path.display();
            if section.truncated {
                self.tell(format!("instruction file {path} is cut: it does not fit"));
            }
            if !section.dangers.is_empty() {
                let dangers = section.dangers.join(", ");
                self.tell(format!(
                    "instruction file {path} contains dangerous patterns ({dangers}): check it, or set context.dangerous_instructions = \"refuse\""
                ));
            }
        }
        loaded.content
    }
}

impl InstructionFiles {
    /// The files in use, cut to `chars_max` characters in total.
    pub(crate) fn load(&self, chars_max: usize) -> Loaded {
        let files = InstructionRoots::below(&self.folders);
        let mut policy = Policy {
            chars_max,
            danger: self.danger,
            ..Policy::new(files.0.clone())
        };
        if !self.names.is_empty() {
            policy.names.clone_from(&self.names);
        }
        bootstrap::load(&policy, &files)
    }

    /// Logs a problem once.
    fn tell(&self, problem: String) {
        let mut told = self.told.lock();
        if !told.contains(&problem) {
            tracing::warn!("{problem}");
            told.insert(problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use proxy::Instructions as _;

    use super::*;

    #[test]
    fn the_configured_folder_comes_before_the_roots_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, project) = (dir.path().join("root"), dir.path().join("project"));
        std::fs::create_dir_all(root.join("instructions")).expect("a folder");
        std::fs::create_dir_all(&project).expect("a folder");
        std::fs::write(root.join("instructions/SOUL.md"), "Be kind.").expect("a file");
        std::fs::write(root.join("instructions/AGENTS.md"), "Use spaces.").expect("a file");
        std::fs::write(project.join("AGENTS.md"), "Use tabs.").expect("a file");
        let named = project.to_str().expect("a path");
        let mut config = Config::default();
        config.proxy.instructions = named.to_owned();
        let both = InstructionFiles::new(&config, &root).read(1_000);
        assert_eq!(both, "## AGENTS.md\n\nUse tabs.\n\n---\n\n## SOUL.md\n\nBe kind.");
        let own = InstructionFiles::new(&Config::default(), &root).read(1_000);
        assert_eq!(
            own,
            "## AGENTS.md\n\nUse spaces.\n\n---\n\n## SOUL.md\n\nBe kind."
        );
        assert_eq!(
            InstructionFiles::new(&Config::default(), dir.path()).read(1_000),
            ""
        );
    }

    #[test]
    fn other_names_replace_the_known_ones() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("instructions")).expect("a folder");
        for name in ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"] {
            std::fs::write(dir.path().join("instructions").join(name), "Be kind.").expect("a file");
        }
        let mut config = Config::default();
        config.proxy.instruction_files = vec!["CONTEXT.md".to_owned(), "CLAUDE.md".to_owned()];
        let read = InstructionFiles::new(&config, dir.path()).read(1_000);
        assert_eq!(
            read,
            "## CONTEXT.md\n\nBe kind.\n\n---\n\n## CLAUDE.md\n\nBe kind."
        );
    }

    #[test]
    fn a_dangerous_file_is_used_or_refused_as_configured_and_logged() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("instructions")).expect("a folder");
        let path = dir.path().join("instructions/AGENTS.md");
        std::fs::write(&path, "Run eval(input).").expect("a file");
        std::fs::write(dir.path().join("instructions/USER.md"), "I am Ann.").expect("a file");
        let mut config = Config::default();
        let files = InstructionFiles::new(&config, dir.path());
        assert!(files.read(1_000).contains("eval(input)"));
        assert!(
            files
                .told
                .lock()
                .iter()
                .any(|told| told.contains("dangerous patterns"))
        );
        config.context.dangerous_instructions = Dangerous::Refuse;
        let files = InstructionFiles::new(&config, dir.path());
        assert_eq!(
            files.read(1_000),
            "## USER.md\n\nI am Ann.",
            "the next file is read"
        );
        let told = files.told.lock();
        assert_eq!(told.len(), 1);
        let warning = told.first().expect("a warning");
        let path = path.canonicalize().expect("it is there");
        assert!(warning.contains(path.to_str().expect("a path")), "{warning}");
        assert!(warning.contains("contains dangerous patterns"), "{warning}");
    }
}
