//! The notification sounds, made of sine waves on first use.
//!
//! Invariant: each sound is a complete 16-bit mono WAV at [`RATE_HZ`], made once per process and the same every time.

use std::f32::consts::TAU;
use std::sync::LazyLock;

use bytes::Bytes;
use forge_types::SoundFile;

const RATE_HZ: u32 = 22_050;
const LOUDNESS: f32 = 0.35;

/// A tone: when it begins, how long it lasts, its pitch, and how quickly it fades.
struct Tone {
    at_ms: u32,
    length_ms: u32,
    hz: f32,
    fade: f32,
}

fn tone(at_ms: u32, length_ms: u32, hz: f32, fade: f32) -> Tone {
    Tone { at_ms, length_ms, hz, fade }
}

static SOUNDS: LazyLock<[Bytes; SoundFile::ALL.len()]> =
    LazyLock::new(|| SoundFile::ALL.map(|sound| encode(&mix(&tones(sound)))));

pub(crate) fn wav(sound: SoundFile) -> Bytes {
    let place = SoundFile::ALL.iter().position(|known| *known == sound);
    place.map(|place| SOUNDS[place].clone()).unwrap_or_default()
}

fn tones(sound: SoundFile) -> Vec<Tone> {
    match sound {
        SoundFile::AbstractSound1 => vec![tone(0, 180, 523.25, 4.0), tone(120, 320, 783.99, 4.0)],
        SoundFile::AbstractSound2 => vec![tone(0, 160, 880.0, 6.0), tone(140, 160, 880.0, 6.0)],
        SoundFile::AbstractSound3 => {
            vec![tone(0, 400, 392.0, 3.0), tone(0, 400, 493.88, 3.0), tone(0, 400, 587.33, 3.0)]
        }
        SoundFile::AbstractSound4 => {
            vec![tone(0, 120, 659.25, 5.0), tone(100, 120, 587.33, 5.0), tone(200, 300, 440.0, 4.0)]
        }
        SoundFile::GenieNotify1 => vec![
            tone(0, 140, 659.25, 4.0),
            tone(90, 140, 830.61, 4.0),
            tone(180, 140, 987.77, 4.0),
            tone(270, 420, 1318.51, 3.5),
        ],
        SoundFile::GenieNotify2 => {
            vec![tone(0, 160, 1174.66, 4.0), tone(120, 160, 1479.98, 4.0), tone(240, 400, 1760.0, 3.5)]
        }
        SoundFile::PhoneVibration => {
            vec![
                tone(0, 220, 82.4, 0.4),
                tone(0, 220, 164.8, 0.4),
                tone(320, 220, 82.4, 0.4),
                tone(320, 220, 164.8, 0.4),
            ]
        }
    }
}

fn samples(ms: u32) -> usize {
    (ms * RATE_HZ / 1000) as usize
}

fn mix(tones: &[Tone]) -> Vec<i16> {
    let end = tones.iter().map(|tone| samples(tone.at_ms + tone.length_ms)).max().unwrap_or(0);
    let mut wave = vec![0.0_f32; end];
    for tone in tones {
        let length = samples(tone.length_ms);
        for (n, sample) in wave[samples(tone.at_ms)..].iter_mut().take(length).enumerate() {
            let (seconds, share) = (n as f32 / RATE_HZ as f32, n as f32 / length as f32);
            // Both ends fade to zero, or the tone would begin and end with a click.
            let edge = (share * 40.0).min((1.0 - share) * 40.0).min(1.0);
            *sample += (TAU * tone.hz * seconds).sin() * (-tone.fade * share).exp() * edge;
        }
    }
    let peak = wave.iter().fold(1.0_f32, |peak, sample| peak.max(sample.abs()));
    wave.iter().map(|sample| (sample / peak * LOUDNESS * f32::from(i16::MAX)) as i16).collect()
}

fn encode(wave: &[i16]) -> Bytes {
    let data_bytes = (wave.len() * 2) as u32;
    let mut file = Vec::with_capacity(44 + wave.len() * 2);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + data_bytes).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    // PCM, one channel.
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&RATE_HZ.to_le_bytes());
    file.extend_from_slice(&(RATE_HZ * 2).to_le_bytes());
    file.extend_from_slice(&2_u16.to_le_bytes());
    file.extend_from_slice(&16_u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&data_bytes.to_le_bytes());
    file.extend(wave.iter().flat_map(|sample| sample.to_le_bytes()));
    file.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sound_is_a_wav_of_its_own_that_can_be_heard() {
        let mut seen = std::collections::HashSet::new();
        for sound in SoundFile::ALL {
            let file = wav(sound);
            assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
            let size = u32::from_le_bytes(file[4..8].try_into().unwrap());
            assert_eq!(size as usize + 8, file.len());
            let loudest =
                file[44..].chunks(2).map(|two| i16::from_le_bytes([two[0], two[1]]).unsigned_abs()).max();
            assert!(loudest.unwrap() > 5000, "{}", sound.as_str());
            assert!(seen.insert(file));
        }
    }
}
