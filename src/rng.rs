//! Keys for random numbers, a different one for each device.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Result;
use crate::host_array::HostArray;
use crate::per_device::PerDevice;

/// A key of JAX's default generator (threefry): two numbers that a program takes as `u32[2]`
/// (`jax.random.key_data`) and makes any amount of random numbers of.
///
/// ```
/// use xla::RngKey;
///
/// let key = RngKey::new(42); // jax.random.key(42)
/// let dropout = key.fold_in(3); // jax.random.fold_in(key, 3)
/// assert_ne!(key, dropout);
/// assert_eq!(key.data(), [0, 42]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RngKey {
    data: [u32; 2],
}

impl RngKey {
    /// The key of a seed, as `jax.random.key`.
    pub fn new(seed: u64) -> RngKey {
        RngKey {
            data: [(seed >> 32) as u32, seed as u32],
        }
    }

    /// A key with these numbers (`jax.random.wrap_key_data`).
    pub fn from_data(data: [u32; 2]) -> RngKey {
        RngKey { data }
    }

    /// The key's numbers.
    pub fn data(self) -> [u32; 2] {
        self.data
    }

    /// Another key, which depends on this one and on a number such as a step's or a
    /// device's, as `jax.random.fold_in`.
    #[must_use]
    pub fn fold_in(self, number: u32) -> RngKey {
        RngKey {
            data: threefry(self.data, [0, number]),
        }
    }

    /// The key in host memory: `u32[2]`.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_host_array(self) -> Result<HostArray<'static>> {
        HostArray::new(&self.data, &[2])
    }
}

impl PerDevice<Buffer> {
    /// A key for each device, so that devices draw different numbers: the key folded with the
    /// device's position. `u32[2]` on each.
    ///
    /// # Errors
    /// As [`PerDevice::from_fn`].
    pub fn rng_keys(devices: &[Device], key: RngKey) -> Result<PerDevice<Buffer>> {
        PerDevice::rng_keys_from(devices, key, 0)
    }

    /// As [`PerDevice::rng_keys`], but the first device's number is `first` and the others
    /// count up from it: for micro-steps that are to draw what more devices would.
    ///
    /// # Errors
    /// As [`PerDevice::from_fn`].
    pub fn rng_keys_from(devices: &[Device], key: RngKey, first: u32) -> Result<PerDevice<Buffer>> {
        PerDevice::from_fn(devices, |position, device| {
            let own = key.fold_in(first.wrapping_add(position as u32));
            Buffer::from_host(device, &own.data, &[2])
        })
    }
}

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011): a bijection of two words that a key picks.
fn threefry(key: [u32; 2], words: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    const PARITY: u32 = 0x1bd1_1bda;
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let mut x = [
        words[0].wrapping_add(keys[0]),
        words[1].wrapping_add(keys[1]),
    ];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x[0] = x[0].wrapping_add(x[1]);
            x[1] = x[1].rotate_left(rotation) ^ x[0];
        }
        x[0] = x[0].wrapping_add(keys[(group + 1) % 3]);
        x[1] = x[1]
            .wrapping_add(keys[(group + 2) % 3])
            .wrapping_add(group as u32 + 1);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_paper() {
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(
            threefry([u32::MAX; 2], [u32::MAX; 2]),
            [0x1cb9_96fc, 0xbb00_2be7]
        );
    }

    /// What JAX 0.10.2 gives, of the wide seed with `jax_enable_x64`.
    #[test]
    fn keys_are_those_of_jax() {
        let key = RngKey::new(42).fold_in(3);
        assert_eq!(key.data(), [3_134_548_294, 894_150_801]);
        let wide = RngKey::new(0x0123_4567_89ab_cdef);
        assert_eq!(wide.data(), [19_088_743, 2_309_737_967]);
        assert_eq!(wide.fold_in(7).data(), [0xf3ae_2613, 0x2aaf_4cab]);
    }
}
