import type { CheckTexts } from './check-texts.ts';

export const GERMAN: CheckTexts = {
  title: 'Benutzt dieses Gerät Weir?',
  needsScript: 'Diese Prüfung braucht JavaScript.',
  checking: 'Wird geprüft. Das dauert ein paar Sekunden.',
  phone: 'Dieses Telefon',
  tablet: 'Dieses Tablet',
  computer: 'Dieser Computer',
  device: 'Dieses Gerät',
  all: '{device} benutzt Weir',
  some: '{device} benutzt Weir nicht immer',
  none: '{device} benutzt Weir auf {node} nicht',
  allDetail: 'Alle {count} Testnamen wurden bei {node} angefragt.',
  someDetail:
    'Nur {seen} von {count} Testnamen wurden bei {node} angefragt. Wahrscheinlich gibt es einen zweiten DNS-Server.',
  noneDetail: 'Keiner von {count} Testnamen wurde dort angefragt.',
  failed: 'Die Prüfung hat nicht funktioniert',
  failedDetail: 'Weir hat nicht geantwortet ({reason}). Versuche es noch einmal.',
  tooMany: 'Zu viele Prüfungen aus diesem Netz. Versuche es in einer Minute noch einmal.',
  families: 'IPv4 und IPv6',
  familySeen: '{seen} von {count} Namen, von {clients}',
  familyNotSeen: 'kein Name',
  oneFamilyAll: 'Über {other} kam nichts, und es fehlt auch nichts: alle Namen kamen über {used}.',
  oneFamilySome:
    'Über {other} kam nichts. Der zweite DNS-Server ist vielleicht eine {other}-Adresse, die der Router bekannt gibt.',
  forwarded:
    'Die Namen kamen von {client}, diese Seite wurde aber von {address} geöffnet. Sind das zwei Geräte, fragt ein Router oder ein anderer Server für dieses, und Weir kann die Geräte dahinter nicht unterscheiden.',
  maybeForwarded:
    'Gehören diese Adressen nicht zu diesem Gerät, fragt ein Router oder ein anderer Server an seiner Stelle, und Weir kann die Geräte dahinter nicht unterscheiden.',
  limits:
    'Nicht sichtbar ist für diese Prüfung ein zweiter DNS-Server, der nur ab und zu gefragt wird, und ein Browser, der erst seinen eigenen DNS-Dienst und danach Weir fragt (Firefox mit erhöhtem Schutz).',
  nextSteps: 'Nächste Schritte',
  steps: [
    'Trage Weir im Router oder auf diesem Gerät als einzigen DNS-Server ein und verbinde das Gerät neu. Ein zweiter DNS-Server umgeht Weir.',
    'Mache dasselbe für IPv6: viele Router geben einen eigenen IPv6-DNS-Server bekannt.',
    'Schalte sicheres DNS (DNS über HTTPS) im Browser aus, und „Privates DNS“ unter Android.',
    'Schalte VPN, Proxy und iCloud Privat-Relay aus, und prüfe noch einmal.',
    'Weir lehnt vielleicht das Netz dieses Geräts ab: siehe „Zugang“ unter „Geräte“ im Dashboard.',
    'Gibt es mehrere Weir-Server, wurde vielleicht ein anderer gefragt.',
  ],
  guides: 'Anleitungen für Router und Geräte',
  askTitle: 'Ist eine Seite blockiert?',
  askName: 'Name oder Adresse der Seite',
  askButton: 'Um Erlaubnis bitten',
  askOutcomes: {
    asked: 'Deine Bitte steht jetzt im Dashboard. Sie verfällt nach einem Tag.',
    already_asked: 'Von diesem Gerät gibt es schon eine offene Bitte. Warte auf die Antwort.',
    not_blocked: 'Dieser Name ist für dieses Gerät nicht blockiert.',
    unknown_device:
      'Weir hat von diesem Gerät noch keine Anfrage gesehen. Öffne irgendeine Seite und versuche es noch einmal.',
  },
  askInvalid: 'Das ist kein Domainname.',
  askRefused:
    'Weir nimmt von hier keine Bitten an: Dieses Gerät darf Weir nicht fragen, oder ein Proxy verbirgt seine Adresse.',
  askTooMany: 'Zu viele Bitten. Versuche es später noch einmal.',
  again: 'Noch einmal prüfen',
  dashboard: 'Dashboard',
};
