import type { CheckTexts } from './check-texts.ts';

export const DUTCH: CheckTexts = {
  title: 'Gebruikt dit apparaat Weir?',
  needsScript: 'Deze controle heeft JavaScript nodig.',
  checking: 'Controleren. Dit duurt een paar seconden.',
  phone: 'Deze telefoon',
  tablet: 'Deze tablet',
  computer: 'Deze computer',
  device: 'Dit apparaat',
  all: '{device} gebruikt Weir',
  some: '{device} gebruikt Weir niet altijd',
  none: '{device} gebruikt Weir op {node} niet',
  allDetail: 'Alle {count} testnamen zijn bij {node} opgevraagd.',
  someDetail:
    'Maar {seen} van {count} testnamen zijn bij {node} opgevraagd. Waarschijnlijk is er een tweede DNS-server.',
  noneDetail: 'Geen van de {count} testnamen is daar opgevraagd.',
  failed: 'De controle is niet gelukt',
  failedDetail: 'Weir gaf geen antwoord ({reason}). Probeer het opnieuw.',
  tooMany: 'Te veel controles vanuit dit netwerk. Probeer het over een minuut opnieuw.',
  families: 'IPv4 en IPv6',
  familySeen: '{seen} van {count} namen, van {clients}',
  familyNotSeen: 'geen naam',
  oneFamilyAll: 'Via {other} kwam niets, en er ontbreekt ook niets: alle namen kwamen via {used}.',
  oneFamilySome:
    'Via {other} kwam niets. De tweede DNS-server is misschien een {other}-adres dat de router bekendmaakt.',
  forwarded:
    'De namen kwamen van {client}, maar deze pagina is geopend vanaf {address}. Als dat twee apparaten zijn, stuurt een router of andere server de aanvragen voor dit apparaat, en kan Weir de apparaten erachter niet onderscheiden.',
  maybeForwarded:
    'Als dit geen adressen van dit apparaat zijn, stuurt een router of andere server de aanvragen ervoor, en kan Weir de apparaten erachter niet onderscheiden.',
  limits:
    'Deze controle ziet geen tweede DNS-server die maar af en toe wordt gebruikt, en geen browser die eerst zijn eigen DNS-dienst vraagt en daarna Weir (Firefox met verhoogde bescherming).',
  nextSteps: 'Volgende stappen',
  steps: [
    'Stel Weir in als enige DNS-server in de router of op dit apparaat, en verbind het apparaat opnieuw. Een tweede DNS-server omzeilt Weir.',
    'Doe hetzelfde voor IPv6: veel routers maken een eigen IPv6-DNS-server bekend.',
    'Zet veilige DNS (DNS over HTTPS) uit in de browser, en Privé-DNS op Android.',
    'Zet VPN’s, proxy’s en iCloud-privédoorgifte uit, en controleer opnieuw.',
    'Misschien weigert Weir het netwerk van dit apparaat: zie Toegang onder Apparaten in het dashboard.',
    'Als er meerdere Weir-servers zijn, kan een andere zijn gebruikt.',
  ],
  guides: 'Instructies voor routers en apparaten',
  askTitle: 'Is een pagina geblokkeerd?',
  askName: 'Naam of adres van de pagina',
  askButton: 'Vragen om te deblokkeren',
  askOutcomes: {
    asked: 'Je verzoek staat nu in het dashboard. Het verloopt na een dag.',
    already_asked: 'Dit apparaat heeft al een open verzoek. Wacht op het antwoord.',
    not_blocked: 'Deze naam is voor dit apparaat niet geblokkeerd.',
    unknown_device:
      'Weir heeft nog geen aanvraag van dit apparaat gezien. Open een willekeurige pagina en probeer het opnieuw.',
  },
  askInvalid: 'Dit is geen domeinnaam.',
  askRefused:
    'Weir neemt van hier geen verzoeken aan: dit apparaat mag Weir niet bevragen, of een proxy verbergt zijn adres.',
  askTooMany: 'Te veel verzoeken. Probeer het later opnieuw.',
  again: 'Opnieuw controleren',
  dashboard: 'Dashboard',
};
