/** Rules of the household, shared by the policy and the generated log. */

/** The children's devices are offline from half past nine to half past six. */
export const BEDTIME = { name: 'Bedtime', fromMinute: 21 * 60 + 30, toMinute: 6 * 60 + 30 } as const;

/** A custom service. */
export const CHATTER = { name: 'Chatter', domains: ['chatter.example'] } as const;

/** A rule for the children. */
export const PRIZES = { name: 'Games of chance', domain: 'lootbox.example' } as const;

/** A regex rule. */
export const TELEMETRY = { name: 'Telemetry', pattern: '^telemetry[.]', names: /^telemetry[.]/ } as const;
