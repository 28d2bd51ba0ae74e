//! `bench ask`: a panel, seat by seat as each one finishes, or the answer merged of them as it is written.

mod image;
mod progress;
mod summary;
mod teller;

use control::dto::Nothing;
use control::{ControlError, dto};

use crate::args::Ask;
use crate::failure::Failure;
use crate::out::Out;
use crate::reach::Reached;
use crate::vault::{Use, unlock};
use image::image;
pub use summary::{section, summary};
use teller::Teller;

/// What is asked of whom, as far as it can be known before a gateway is reached.
#[derive(Debug)]
pub struct Question<'a> {
    pub collection: &'a str,
    /// `all`, `merged`, or empty: the collection's own.
    pub reply: &'static str,
    /// URLs.
    pub images: Vec<String>,
}

/// Reads the images and the reply mode, which may stand behind the collection's name.
pub fn question(args: &Ask) -> Result<Question<'_>, Failure> {
    let flag = match (args.all, args.merged) {
        (true, _) => "all",
        (_, true) => "merged",
        _ => "",
    };
    let (collection, reply) = match args.collection.split_once(':') {
        Some((name, "all")) => (name, "all"),
        Some((name, "merged")) => (name, "merged"),
        Some((name, "route")) => {
            return Err(Failure::Refused(ControlError::bad_input(
                "collection",
                format!(
                    "collection: the reply mode \"route\" is for agents; ask {name}:all or {name}:merged"
                ),
            )));
        }
        // No collection has such a name, and the gateway says which there are.
        _ => (args.collection.as_str(), flag),
    };
    if !flag.is_empty() && flag != reply {
        return Err(Failure::Usage(format!(
            "--{flag} and {} say two things; leave one out",
            args.collection
        )));
    }
    let images = args.images.iter().map(|given| image(given)).collect::<Result<_, _>>()?;
    Ok(Question { collection, reply, images })
}

/// Asks, and tells what comes.
pub async fn ask(
    reached: &Reached,
    question: Question<'_>,
    args: &Ask,
    prompt: String,
    out: Out,
) -> Result<(), Failure> {
    let Question { collection, reply, images } = question;
    unlock(reached, Use::Call(&endpoints(reached, collection, &args.with).await?), out).await?;
    let mut events = reached.remote.events().await?;
    // The snapshot. The gateway tells us everything from here on, so the panel cannot begin unseen.
    events.next().await?;
    let asked = reached
        .remote
        .ask(dto::Ask {
            collection: collection.to_owned(),
            prompt,
            system: args.system.clone(),
            images,
            with: args.with.clone(),
            reply: reply.to_owned(),
            client: "bench ask".to_owned(),
        })
        .await?;
    let mut teller = Teller::new(asked.panel, out);
    let ended = tokio::select! {
        ended = teller.follow(&mut events) => ended,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    teller.stop();
    let panel = teller.panel();
    match ended {
        Ok(panel) => teller.close(&panel),
        Err(Failure::Interrupted) => {
            out.note(&if reached.is_own() {
                format!("bench: stopping; panel {panel} is recorded as far as it comes")
            } else {
                format!("bench: left; panel {panel} goes on in the gateway and is recorded there")
            });
            Err(Failure::Interrupted)
        }
        Err(Failure::NoServer(why)) => {
            Err(Failure::NoServer(format!("{why}; what panel {panel} had finished is recorded")))
        }
        Err(failure) => Err(failure),
    }
}

/// Where those are served from that are asked for by name: members, nominees, the merger. The router leaves out
/// whom it has no key for.
async fn endpoints(reached: &Reached, collection: &str, with: &[String]) -> Result<Vec<String>, Failure> {
    let setup = reached.remote.setup(Nothing {}).await?;
    let mut named = with.to_vec();
    if let Some(asked) = setup.collections.iter().find(|it| it.name == collection) {
        named.extend(asked.members.iter().chain(&asked.merger).cloned());
    }
    let models = setup.models.into_iter().filter(|model| named.contains(&model.alias));
    Ok(models.map(|model| model.endpoint).collect())
}

#[cfg(test)]
pub mod made;
#[cfg(test)]
mod tests;
