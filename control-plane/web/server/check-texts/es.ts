import type { CheckTexts } from './check-texts.ts';

export const SPANISH: CheckTexts = {
  title: '¿Usa Weir este dispositivo?',
  needsScript: 'Esta comprobación necesita JavaScript.',
  checking: 'Comprobando. Tarda unos segundos.',
  phone: 'Este teléfono',
  tablet: 'Esta tableta',
  computer: 'Este equipo',
  device: 'Este dispositivo',
  all: '{device} usa Weir',
  some: '{device} no siempre usa Weir',
  none: '{device} no usa Weir en {node}',
  allDetail: 'Los {count} nombres de prueba se consultaron en {node}.',
  someDetail:
    'Solo {seen} de {count} nombres de prueba se consultaron en {node}. Probablemente haya un segundo servidor DNS.',
  noneDetail: 'Ninguno de los {count} nombres de prueba se consultó ahí.',
  failed: 'La comprobación no funcionó',
  failedDetail: 'Weir no respondió ({reason}). Vuelve a intentarlo.',
  tooMany: 'Demasiadas comprobaciones desde esta red. Vuelve a intentarlo en un minuto.',
  families: 'IPv4 e IPv6',
  familySeen: '{seen} de {count} nombres, desde {clients}',
  familyNotSeen: 'ningún nombre',
  oneFamilyAll: 'No llegó nada por {other}, y no falta nada: todos los nombres llegaron por {used}.',
  oneFamilySome:
    'No llegó nada por {other}. El segundo servidor DNS puede ser una dirección {other} que anuncia el router.',
  forwarded:
    'Los nombres llegaron de {client}, pero esta página se abrió desde {address}. Si son dos dispositivos, un router u otro servidor consulta en lugar de este, y Weir no puede distinguir los dispositivos que hay detrás.',
  maybeForwarded:
    'Si estas direcciones no son de este dispositivo, un router u otro servidor consulta en su lugar, y Weir no puede distinguir los dispositivos que hay detrás.',
  limits:
    'Esta comprobación no puede ver un segundo servidor DNS que solo se usa de vez en cuando, ni un navegador que consulta primero a su propio servicio DNS y después a Weir (Firefox con protección aumentada).',
  nextSteps: 'Próximos pasos',
  steps: [
    'Configura Weir como único servidor DNS en el router o en este dispositivo, y vuelve a conectar el dispositivo. Un segundo servidor DNS elude Weir.',
    'Haz lo mismo con IPv6: muchos routers anuncian su propio servidor DNS IPv6.',
    'Desactiva el DNS seguro (DNS sobre HTTPS) en el navegador, y «DNS privado» en Android.',
    'Desactiva VPN, proxies y el Relay privado de iCloud, y vuelve a comprobar.',
    'Puede que Weir rechace la red de este dispositivo: consulta «Acceso», en «Dispositivos», en el panel.',
    'Si hay varios servidores Weir, puede que se haya consultado a otro.',
  ],
  guides: 'Guías para routers y dispositivos',
  askTitle: '¿Hay una página bloqueada?',
  askName: 'Nombre o dirección de la página',
  askButton: 'Pedir que se desbloquee',
  askOutcomes: {
    asked: 'Tu petición ya aparece en el panel. Caduca al cabo de un día.',
    already_asked: 'Este dispositivo ya tiene una petición abierta. Espera la respuesta.',
    not_blocked: 'Este nombre no está bloqueado para este dispositivo.',
    unknown_device:
      'Weir todavía no ha visto ninguna consulta de este dispositivo. Abre cualquier página e inténtalo de nuevo.',
  },
  askInvalid: 'No es un nombre de dominio.',
  askRefused:
    'Weir no acepta peticiones desde aquí: este dispositivo no puede consultar a Weir o un proxy oculta su dirección.',
  askTooMany: 'Demasiadas peticiones. Inténtalo más tarde.',
  again: 'Volver a comprobar',
  dashboard: 'Panel',
};
