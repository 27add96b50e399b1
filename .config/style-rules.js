// The rules of docs/style.md that a program can check, for style.js next to this file: [pattern, what to use, context
// in which the pattern is allowed]. A rule belongs here if good English text almost never matches its pattern.

/** The newest commit whose subject is not checked; older commits are not checked either. */
export const BASE = '17a51caf';

/** Files that quote text that the rules reject, or that contain text by other authors. */
export const EXCLUDED = /^(\.config\/style-rules\.js|test\/tools\/|test\/conformance\/)/;

/** For comments, strings, documents and commit subjects. */
export const RULES = [
  [/\bwhere\s+(there\s+(is|are|was|were)|no|none|nothing|not)\b/gi, '"if", "when" or "without"'],
  [/\b[Ww]here\s+([\w'-]+\s+){1,4}(is|are|was|were|has|have|does|do|did)\s+(not|no)\b/g, '"if" or "when"'],
  [
    /\b(only|except|but|even|also|null|undefined|true|false|none|fails?|refused|throws?)\s+where\b/gi,
    '"if" or "when"',
  ],
  [/\}\s+where\b/g, '"if" or "when"'],
  [
    /(?<!\bthere\s+([\w']+\s+){0,2})\b(is|are|was|were|be)\s+(no|none)\s+(?!(longer|more|less|fewer|better|worse|matter|doubt|later|earlier|larger|smaller|greater|higher|lower)\b)[a-z]+/gi,
    '"is not a"',
  ],
  [/(?<!\bthere\s+)\b(is|are|was|were)\s+none\b(?!\s+left)/gi, '"there is no" or "is not one of"'],
  [/(?<!\bnot\b[^.;\0]{0,60})\bbut\s+for\b/gi, '"except for"'],
  [/\bbesides\b/gi, '"except", "also" or "in addition to"'],
  [/(?<=(^|\0)\s*)What\s(?!if\b)[^?\0]*?[.\0]/g, 'the name of the thing'],
  [/\bwhat\s+(became|becomes|is\s+made|comes|came)\s+(of|out\s+of)\b/gi, '"outcome of" or "result of"'],
  [/\b(tells?|told|telling)\b(?!(\s+[\w']+){0,4}\s+apart\b)/gi, '"report", "show", "notify" or "log"'],
  [/\bsigns?\s+of\s+life\b|\bword\s+of\s+(itself|themselves)\b/gi, '"heartbeat"'],
  [/\b(go|goes|going|went|gone)\s+on\b/gi, '"continue" or "keep"'],
  [/\bstays?\s+(as|what)\s+(it|they)\s+(is|was|are|were)\b/gi, '"is unchanged" or "is kept"'],
  [/\banew\b/gi, '"again", "re-" or "from scratch"'],
  [/(?<!\buser\s+)\bnobody\b(?!\.invalid)|\bno\s+one\b/gi, '"no user", "no client" or "not … anyone"'],
  [/\beverybody\b|\bsomebody\b|\banybody\b/gi, '"everyone", "someone", "anyone" or "users"'],
  [/\bwhoever\b|\bwhosoever\b|\bthose\s+who\b|\bof\s+whom\b/gi, '"anyone who", "users who" or the noun'],
  [/,\s+too(?=\s*([.;:!?)}\0]|$))/gi, '"also" before the verb'],
  [/\bmeanwhile\b/gi, '"while …", or nothing'],
  [/\bby\s+then\b|\bof\s+then\b|\bso\s+long\b(?!\s+as\b)/gi, '"before", "for that time", or nothing'],
  [/\bin\s+vain\b/gi, '"without success" or "fails"'],
  [
    /\b(thereby|hence|thereof|therein|whence|hitherto|lest|albeit|whereby)\b/gi,
    '"so", "because", or nothing',
  ],
  [/\bof\s+(its|their|one's|our|your|his|her)\s+own\b/gi, '"its own …", "separate" or "dedicated"'],
  [
    /\b(is|are|was|were)\s+to\s+be\s+\w+(ed|en|ne|wn|nd|pt|ft|ad|de)\b|\bto\s+be\s+had\b/gi,
    '"must be", "can be" or "is available"',
  ],
  [/\blets?\s+pass\b/gi, '"allow" or "pass"'],
  [
    /\b(has|have)\s+(the|a|an|its|their|all|each|every)\s+[\w-]+\s+(read|written|run|sent|made|done|shown|replaced|start|end|listen|say)\b/gi,
    'an active verb',
  ],
  [/\bremarks?\b/gi, '"comment"'],
  [/\b(take|takes|took|taken|taking)\s+back\b/gi, '"undo", "roll back" or "revoke"'],
  [/\bheld\s+cop(y|ies)\b|\bcop(y|ies)\s+(is\s+|are\s+)?held\b/gi, '"held update"'],
  [/\b(in|into)\s+force\b/gi, '"active" or "in effect"'],
  [/\b(repair|mend)(s|ed|ing)?\b/gi, '"fix"'],
  [/\bstands?\s+twice\b/gi, '"duplicated"'],
  [/\bset(s|ting)?\s+aside\b/gi, '"marked unhealthy" (upstreams) or "ignored"'],
  [/\bfor\s+want\s+of\b/gi, '"for lack of" or "because there is no"'],
  [/\bpast\s+(its|their)\s+end\b/gi, '"stale" or "expired"'],
  [/\boctets?\b(?!-)/gi, '"byte"', /RFC \d/],
  [/\bpapers?\b/gi, '"document"'],
  [/\bkeep(s|ing)?\s+(the\s+)?house\b|\bedge\s+of\s+the\s+web\b/gi, 'the technical term'],
  [
    /\b(a|an|the|each|every|own|this)\s+room\b(?!\s+(for|to|in|left)\b)|\brooms\b/gi,
    '"module", "directory" or "environment"',
  ],
  [/\bsee\s+above\b/gi, 'the name of what is meant'],
  [/\bas\s+often\s+as\s+not\b/gi, '"about half of the time"'],
];

/** For the English catalogue of the dashboard, with one word per thing. */
export const UI_RULES = [
  [/\bfor\s+a\s+(while|time)\b/gi, '"temporary" or "temporarily"'],
  [/\bnotes?\b/gi, '"comment"'],
  [/\bown\s+rules?\b|(?<!regular\s+)\bexpressions?\b/gi, '"domain rule" or "regex rule"'],
  [
    /\b(switch|switche[ds]|switching)\s+(on|off)\b|\bturn(s|ed|ing)?\s+on\b|\blet\s+rest\b/gi,
    '"enable", "disable" or "pause"',
  ],
  [/\b(forget|forgets|drop|drops)\b/gi, '"delete", "remove", "revoke" or "clear"'],
  [/\bholds?\s+(for|now|then|all|at|again|until)\b/gi, '"is active" or "applies"'],
  [/\b(any|no)\s+more\b(?!\s+than\b)/gi, '"no longer" or a positive statement'],
];
