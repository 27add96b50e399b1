import type { CheckTexts } from './check-texts.ts';

export const FRENCH: CheckTexts = {
  title: 'Cet appareil utilise-t-il Weir ?',
  needsScript: 'Cette vérification a besoin de JavaScript.',
  checking: 'Vérification en cours. Cela prend quelques secondes.',
  phone: 'Ce téléphone',
  tablet: 'Cette tablette',
  computer: 'Cet ordinateur',
  device: 'Cet appareil',
  all: '{device} utilise Weir',
  some: '{device} n’utilise pas toujours Weir',
  none: '{device} n’utilise pas Weir sur {node}',
  allDetail: 'Les {count} noms de test ont tous été demandés à {node}.',
  someDetail:
    'Seuls {seen} noms de test sur {count} ont été demandés à {node}. Il y a probablement un second serveur DNS.',
  noneDetail: 'Aucun des {count} noms de test n’y a été demandé.',
  failed: 'La vérification n’a pas fonctionné',
  failedDetail: 'Weir n’a pas répondu ({reason}). Réessayez.',
  tooMany: 'Trop de vérifications depuis ce réseau. Réessayez dans une minute.',
  families: 'IPv4 et IPv6',
  familySeen: '{seen} noms sur {count}, depuis {clients}',
  familyNotSeen: 'aucun nom',
  oneFamilyAll: 'Rien n’est arrivé en {other}, et rien ne manque : tous les noms sont arrivés en {used}.',
  oneFamilySome:
    'Rien n’est arrivé en {other}. Le second serveur DNS est peut-être une adresse {other} que le routeur annonce.',
  forwarded:
    'Les noms sont venus de {client}, mais cette page a été ouverte depuis {address}. Si ce sont deux appareils, un routeur ou un autre serveur fait les requêtes pour celui-ci, et Weir ne peut pas distinguer les appareils derrière lui.',
  maybeForwarded:
    'Si ces adresses ne sont pas celles de cet appareil, un routeur ou un autre serveur fait les requêtes pour lui, et Weir ne peut pas distinguer les appareils derrière lui.',
  limits:
    'Cette vérification ne peut voir ni un second serveur DNS qui ne sert que de temps en temps, ni un navigateur qui interroge d’abord son propre service DNS, puis Weir (Firefox avec la protection renforcée).',
  nextSteps: 'Étapes suivantes',
  steps: [
    'Indiquez Weir comme seul serveur DNS dans le routeur, ou sur cet appareil, puis reconnectez l’appareil. Un second serveur DNS contourne Weir.',
    'Faites de même pour IPv6 : beaucoup de routeurs annoncent leur propre serveur DNS IPv6.',
    'Désactivez le DNS sécurisé (DNS sur HTTPS) dans le navigateur, et le DNS privé sur Android.',
    'Désactivez les VPN, les proxys et le relais privé iCloud, puis vérifiez de nouveau.',
    'Weir refuse peut-être le réseau de cet appareil : voyez Accès sous Appareils dans le tableau de bord.',
    'S’il y a plusieurs serveurs Weir, un autre a peut-être été interrogé.',
  ],
  guides: 'Guides pour routeurs et appareils',
  askTitle: 'Une page est-elle bloquée ?',
  askName: 'Nom ou adresse de la page',
  askButton: 'Demander le déblocage',
  askOutcomes: {
    asked: 'Votre demande apparaît maintenant dans le tableau de bord. Elle expire au bout d’un jour.',
    already_asked: 'Cet appareil a déjà une demande ouverte. Attendez la réponse.',
    not_blocked: 'Ce nom n’est pas bloqué pour cet appareil.',
    unknown_device:
      'Weir n’a encore vu aucune requête de cet appareil. Ouvrez une page quelconque et réessayez.',
  },
  askInvalid: 'Ce n’est pas un nom de domaine.',
  askRefused:
    'Weir n’accepte aucune demande d’ici : cet appareil ne peut pas interroger Weir, ou un proxy masque son adresse.',
  askTooMany: 'Trop de demandes. Réessayez plus tard.',
  again: 'Vérifier de nouveau',
  dashboard: 'Tableau de bord',
};
