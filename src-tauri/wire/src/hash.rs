/// FNV-1a, 64 bits, over the texts joined: for short stable names, never against an enemy.
pub(crate) fn fnv1a(texts: &[&str]) -> u64 {
    texts
        .iter()
        .flat_map(|text| text.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_values() {
        assert_eq!(super::fnv1a(&[""]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::fnv1a(&["foo", "bar"]), 0x8594_4171_f739_67e8);
    }
}
