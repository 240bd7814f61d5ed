//! Decides when the terminal's bell rings: for an alert that is new or more severe than before, and not too often.

use forge_types::{Alert, AlertSettings, Millis};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bell {
    pub settings: AlertSettings,
    rung_at: Option<Millis>,
}

impl Bell {
    /// Whether the bell rings for `alert`; `known` is its last known state.
    pub(crate) fn hear(&mut self, known: Option<&Alert>, alert: &Alert, now: Millis) -> bool {
        let is_news = known.is_none_or(|known| known.severity < alert.severity);
        let is_open = alert.resolved_at.is_none() && alert.acknowledged_at.is_none();
        let interval =
            i64::try_from(self.settings.bell_interval_secs.saturating_mul(1000)).unwrap_or(i64::MAX);
        let has_rested = self.rung_at.is_none_or(|at| now.0.saturating_sub(at.0) >= interval);
        let rings = is_news && is_open && has_rested && self.settings.rings_for(alert.severity);
        if rings {
            self.rung_at = Some(now);
        }
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{AlertId, AlertKind, Severity};

    fn alert(severity: Severity) -> Alert {
        Alert {
            id: AlertId::random(),
            kind: AlertKind::WorkerCrashed,
            severity,
            subject: "a".into(),
            message: "a died".into(),
            count: 1,
            first_at: Millis(0),
            last_at: Millis(0),
            acknowledged_at: None,
            resolved_at: None,
        }
    }

    #[test]
    fn it_rings_for_new_or_more_severe_alerts_as_the_settings_say() {
        let (warning, critical) = (alert(Severity::Warning), alert(Severity::Critical));
        assert!(Bell::default().hear(None, &critical, Millis(0)));
        assert!(Bell::default().hear(Some(&warning), &critical, Millis(0)), "it is more severe");
        assert!(!Bell::default().hear(Some(&critical), &critical, Millis(0)), "nothing is new");
        assert!(!Bell::default().hear(None, &warning, Millis(0)));
        let seen = Alert { acknowledged_at: Some(Millis(1)), ..critical.clone() };
        assert!(!Bell::default().hear(None, &seen, Millis(2)));
        let settings =
            AlertSettings { bell_on_critical: false, bell_on_warning: true, ..AlertSettings::default() };
        let mut other = Bell { settings, rung_at: None };
        assert!(!other.hear(None, &critical, Millis(0)) && other.hear(None, &warning, Millis(0)));
    }

    #[test]
    fn it_rests_between_two_rings() {
        let mut bell = Bell::default();
        let critical = alert(Severity::Critical);
        let rings = [0, 29_999, 30_000].map(|at| bell.hear(None, &critical, Millis(at)));
        assert_eq!(rings, [true, false, true]);
    }
}
