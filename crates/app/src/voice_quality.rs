//! Quality of a voice call: ITU-T G.107, reduced to delay and loss (Cole & Rosenbluth 2001).

use dumbbell_declare::choices;

choices! {
    /// A voice codec.
    pub enum Codec {
        /// None: the datagrams are not voice.
        none,
        /// G.711 with packet-loss concealment.
        g711,
        /// G.729A.
        g729a,
    }
}

impl Codec {
    /// Impairment without loss, in thousandths, and robustness against loss, in millionths of all
    /// packets (ITU-T G.113 Appendix I).
    fn impairment_milli_and_robustness_ppm(self) -> Option<(i64, i64)> {
        match self {
            Self::none => None,
            Self::g711 => Some((0, 251_000)),
            Self::g729a => Some((11_000, 190_000)),
        }
    }

    /// The transmission rating R in thousandths, with a delay from mouth to ear and a share of packets
    /// that are lost or late; `None`: it is no voice.
    pub(crate) fn r_milli(self, delay_us: u64, loss_ppm: u64) -> Option<i64> {
        let (impairment_milli, robustness_ppm) = self.impairment_milli_and_robustness_ppm()?;
        let (delay_us, loss_ppm) = (delay_us.cast_signed(), loss_ppm.cast_signed());
        let by_delay_milli = 24 * delay_us / 1000 + 110 * (delay_us - 177_300).max(0) / 1000;
        let by_loss_milli =
            impairment_milli + (95_000 - impairment_milli) * loss_ppm / (loss_ppm + robustness_ppm);
        Some(93_200 - by_delay_milli - by_loss_milli)
    }
}

/// The mean opinion score that a rating stands for, both in thousandths. The polynomial is below 1 for
/// ratings of up to 6.5; no score is.
pub(crate) fn mos_milli(r_milli: i64) -> i64 {
    if r_milli <= 0 {
        return 1000;
    }
    if r_milli >= 100_000 {
        return 4500;
    }
    let cubic = r_milli * (r_milli - 60_000) / 1000 * (100_000 - r_milli) / 1000;
    (1000 + 35 * r_milli / 1000 + 7 * cubic / 1_000_000).max(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// traffic.md §4: R 93.2 and MOS 4.41 without delay; R 89.6 with 150 ms; R 72.5 and MOS 3.71 with
    /// 300 ms; R 86.2 with 2 % loss.
    #[test]
    fn ratings_are_those_of_the_formula() {
        let r = |delay_ms: u64, loss_ppm| {
            Codec::g711
                .r_milli(delay_ms * 1000, loss_ppm)
                .expect("voice")
        };
        assert_eq!(r(0, 0), 93_200);
        assert_eq!((mos_milli(93_200) + 5) / 10, 441);
        assert_eq!(r(150, 0), 89_600);
        assert_eq!(r(300, 0) / 100, 725);
        assert_eq!((mos_milli(r(300, 0)) + 5) / 10, 371);
        assert_eq!((r(0, 20_000) + 50) / 100, 862);
        assert_eq!(Codec::g729a.r_milli(0, 0), Some(82_200));
        assert_eq!(Codec::none.r_milli(0, 0), None);
    }

    #[test]
    fn scores_stay_between_1_and_4_5() {
        assert_eq!(
            (mos_milli(-5), mos_milli(0), mos_milli(100_000)),
            (1000, 1000, 4500)
        );
        let scores: Vec<i64> = (0..100_000).step_by(100).map(mos_milli).collect();
        assert!(scores.is_sorted() && scores[0] == 1000, "{scores:?}");
    }
}
