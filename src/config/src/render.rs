//! The sample file and the reference, both written from the table.

use std::fmt::Write as _;

use crate::load::PLUGIN_PREFIX;
use crate::options::{SECTIONS, Settings};
use crate::spec::OptionSpec;
use crate::value::Kind;

/// Widest line of the sample.
const WIDTH: usize = 79;

const HEAD: &str = "\
stowplan's configuration: every option with its default. Remove the # before
an option to change it. Sections and options of other services' files are
accepted and change nothing.

Values may refer to others as $option or ${section.option}; $$ is a dollar
sign. OS_<SECTION>__<OPTION> in the environment overrides the file, and --set
section.option=value on the command line overrides both.";

const PLUGINS: &str = "\
Options of a plugin of batch scheduling stand in a section of its own, such
as [batch:binpack].";

/// The sample configuration file: all options commented out, with help, ranges
/// and defaults.
pub fn render_sample() -> String {
    let defaults = Settings::default();
    let mut out = String::new();
    for line in HEAD.lines() {
        comment(&mut out, line);
    }
    for section in SECTIONS {
        let _ = write!(out, "\n\n[{}]\n", section.name);
        for line in wrapped(&section.about.concat()) {
            comment(&mut out, &line);
        }
        for spec in section.options {
            out.push('\n');
            sample_option(&mut out, spec, &defaults);
        }
        if section.name == PLUGIN_PREFIX.trim_end_matches(':') {
            out.push('\n');
            for line in PLUGINS.lines() {
                comment(&mut out, line);
            }
        }
    }
    out
}

fn comment(out: &mut String, line: &str) {
    let _ = writeln!(out, "{}", format!("# {line}").trim_end());
}

fn sample_option(out: &mut String, spec: &OptionSpec, defaults: &Settings) {
    let help = format!("{} ({})", spec.help.concat().trim(), spec.kind.label());
    for line in wrapped(&help) {
        comment(out, &line);
    }
    for fact in facts(spec) {
        for line in wrapped(&fact) {
            comment(out, &line);
        }
    }
    for text in default_texts(spec, defaults) {
        let _ = writeln!(out, "{}", format!("#{} = {text}", spec.name).trim_end());
    }
}

/// What is to be known besides the help, a sentence each.
fn facts(spec: &OptionSpec) -> Vec<String> {
    let meta = &spec.meta;
    let mut facts = Vec::new();
    if let Kind::Choice(words) = spec.kind {
        facts.push(format!("One of: {}", words.join(", ")));
    }
    if !meta.words.is_empty() {
        facts.push(format!("One of: {}", meta.words.join(", ")));
    }
    if let Some(low) = meta.minimum {
        facts.push(format!("Lowest: {low}"));
    }
    if let Some(floor) = meta.floor {
        facts.push(format!("Lowest: {floor} (what is lower is read as {floor})"));
    }
    if let Some(high) = meta.maximum {
        facts.push(format!("Highest: {high}"));
    }
    for (section, name) in meta.older_names {
        facts.push(format!("Older name: [{section}] {name}"));
    }
    if let Some(why) = meta.removal {
        facts.push(format!("Will go away: {why}"));
    }
    if meta.is_mutable {
        facts.push("May change at a reload".to_owned());
    }
    facts
}

/// The default as the sample shows it; several lines for an option that is
/// given once per item.
fn default_texts(spec: &OptionSpec, defaults: &Settings) -> Vec<String> {
    if let Some(text) = spec.meta.sample.or(spec.meta.template) {
        return vec![text.to_owned()];
    }
    let texts = (spec.texts)(defaults, &spec.meta);
    if texts.is_empty() { vec!["<unset>".to_owned()] } else { texts }
}

/// Lines of words that leave room for the comment sign.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + 3 <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The reference of all options in Markdown, a table per section.
pub fn render_reference() -> String {
    let defaults = Settings::default();
    let mut out = String::from("# Options\n");
    for section in SECTIONS {
        let _ = write!(
            out,
            "\n## [{}]\n\n{}\n\n| option | type | default | help |\n| --- | --- | --- | --- |\n",
            section.name,
            section.about.concat().trim()
        );
        for spec in section.options {
            let mut help = spec.help.concat().trim().to_owned();
            for fact in facts(spec) {
                let _ = write!(help, " {fact}.");
            }
            let default = default_texts(spec, &defaults).join("; ");
            let default = if default.is_empty() { default } else { format!("`{default}`") };
            let _ = writeln!(
                out,
                "| {} | {} | {default} | {} |",
                spec.name,
                spec.kind.label(),
                help.replace('|', "\\|")
            );
        }
    }
    out
}
