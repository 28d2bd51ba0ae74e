//! Signatures and encrypted reasoning, bound to the member that made them. On the way to a caller whose answer
//! was translated a seal is marked with its maker; on the way back the mark is read off again. One without a
//! mark (its answer was relayed as it was) is known by its fingerprint.

use crate::{
    hash::fnv1a,
    model::{Member, Seal, Target},
};

const MARK: &str = "bw1.";

/// What Google documents for calls without a signature of the model's own: another model made them.
pub(crate) const SKIP: &str = "skip_thought_signature_validator";

impl Seal {
    /// A seal as a member sent it; [`Restore`](crate::Restore) says whose it is.
    pub fn new(data: impl Into<String>) -> Self {
        Seal { data: data.into(), origin: None }
    }

    /// As the caller is given it.
    pub fn to_caller(&self) -> String {
        match self.origin {
            Some(member) => format!("{MARK}{:016x}.{}", member.0, self.data),
            None => self.data.clone(),
        }
    }

    /// As the caller gives it back.
    pub fn from_caller(text: &str) -> Self {
        let marked = text.strip_prefix(MARK).and_then(|rest| {
            let (member, data) = rest.split_once('.')?;
            let is_hash = member.len() == 16 && member.bytes().all(|byte| byte.is_ascii_hexdigit());
            Some((u64::from_str_radix(is_hash.then_some(member)?, 16).ok()?, data))
        });
        match marked {
            Some((member, data)) => Seal { data: data.to_owned(), origin: Some(Member(member)) },
            None => Seal::new(text),
        }
    }

    /// A hash of the provider's text, for [`Target::made`] and [`Target::foreign`].
    pub fn fingerprint(&self) -> u64 {
        fnv1a(&[&self.data])
    }
}

impl Target {
    /// Whether this member made the seal.
    pub fn made(&self, seal: &Seal) -> bool {
        seal.origin.map_or_else(|| self.made.contains(&seal.fingerprint()), |member| member == self.member)
    }

    /// Whether another member is known to have made the seal. One of an unknown maker is neither made nor foreign:
    /// after a restart it is most likely the member's own.
    pub fn is_foreign(&self, seal: &Seal) -> bool {
        seal.origin.map_or_else(|| self.foreign.contains(&seal.fingerprint()), |member| member != self.member)
    }

    /// Whether a relayed body may hold the seal as it stands: without a mark of ours, and not another member's.
    pub(crate) fn takes(&self, seal: &Seal) -> bool {
        seal.origin.is_none() && !self.is_foreign(seal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_goes_there_and_back() {
        let seal = Seal { data: "Eq.Q==".to_owned(), origin: Some(Member(0xab)) };
        assert_eq!(seal.to_caller(), "bw1.00000000000000ab.Eq.Q==");
        assert_eq!(Seal::from_caller(&seal.to_caller()), seal);
        for plain in ["Eq.Q==", "", "bw1.", "bw1.00.x", "bw1.+0000000000000ab.x", "bw1.éééééééé.x"] {
            assert_eq!(Seal::from_caller(plain), Seal::new(plain));
            assert_eq!(Seal::new(plain).to_caller(), plain);
        }
    }

    #[test]
    fn only_its_maker_is_given_it() {
        let mut target = Target { member: Member(1), ..Target::default() };
        assert!(target.made(&Seal { data: "a".to_owned(), origin: Some(Member(1)) }));
        assert!(!target.made(&Seal { data: "a".to_owned(), origin: Some(Member(2)) }));
        assert!(!target.made(&Seal::new("a")));
        target.made.insert(Seal::new("a").fingerprint());
        assert!(target.made(&Seal::new("a")));
    }

    #[test]
    fn what_another_member_made_is_foreign_and_what_nobody_is_known_to_have_made_is_not() {
        let foreign = [Seal::new("b").fingerprint()].into();
        let target = Target { member: Member(1), foreign, ..Target::default() };
        for (data, origin, is_foreign, takes) in [
            ("a", Some(Member(1)), false, false),
            ("b", Some(Member(1)), false, false),
            ("a", Some(Member(2)), true, false),
            ("a", None, false, true),
            ("b", None, true, false),
        ] {
            let seal = Seal { data: data.to_owned(), origin };
            assert_eq!((target.is_foreign(&seal), target.takes(&seal)), (is_foreign, takes), "{seal:?}");
        }
    }
}
