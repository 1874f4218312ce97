/**
 * Signs that a text gives orders to the model that reads it. The search begins where a word of the sign stands and reads a short piece of
 * text by a pattern of a linear-time engine. So the work grows with the length of the text alone. Most texts hold few of the words, and most
 * pieces lack what every pattern of their sign needs. Fast searches find that before a pattern runs.
 */
import type { EvaluationContext, Work } from '../evaluator.ts';
import { hiddenRuns, revealed, withoutHidden } from './hidden-characters.ts';

export interface FoundSign {
  readonly sign: string;
  /** What stands there, in part, with hidden characters written out. */
  readonly excerpt: string;
}

interface Sign {
  readonly name: string;
  readonly meaning: string;
  /** Where a search begins: words and no more, which is fast. No letter or digit stands before one. */
  readonly words?: string;
  /** Nor behind one. */
  readonly wholeWords?: true;
  /** Where a search begins besides, whatever stands around. */
  readonly marks?: string;
  /** What stands in every piece that one of the patterns fits, and in few others. */
  readonly needs?: RegExp;
  /** What must stand there. */
  readonly patterns: readonly string[];
}

const about = '(?:instructions?|prompts?|directives?|guidelines|orders)';
const before = '(?:previous|prior|above|earlier|preceding|former|original|initial|system|safety)';

const signs: readonly Sign[] = [
  {
    name: 'ignore_instructions',
    meaning: 'to forget the instructions that came before',
    words: 'ignor|disregard|forget|bypass|vergiss|vergessen|missachte|oubli|olvid|dimentica|esque|игнорир|забудь',
    marks: '忽略|无视|無視|忘记',
    patterns: [
      `(?is)^(?:ignore|disregard|forget|bypass)\\s+(?:about\\s+)?(?:(?:all|any|of|the|these|those|${before})\\s+){0,4}(?:all|your|${before})\\s+(?:of\\s+)?(?:(?:the|your|${before})\\s+){0,3}${about}`,
      `(?is)^(?:ignore|disregard|forget|bypass)\\s+(?:(?:all|any|of|the|these|those|your)\\s+){0,4}${before}\\s+(?:rules?|constraints?|commands?|messages?|context)`,
      `(?is)^(?:ignore|disregard|forget)\\s+(?:(?:all|any|of|the|these|those)\\s+){0,3}${about}\\s+(?:above|before|that\\s+you|you\\s+(?:were|have|got|received)|so\\s+far)`,
      '(?is)^(?:ignorier\\pL*|vergiss|vergessen\\s+Sie|missachte\\pL*)\\s+(?:\\pL+\\s+){0,3}(?:vorherig|bisherig|obig|früher|vorangegangen|vorig)\\pL*\\s+(?:Anweisung|Instruktion|Befehl|Regel|Vorgabe)',
      '(?is)^(?:ignore[rz]?|oublie[rz]?)\\s+(?:toutes?\\s+)?(?:les|tes|vos)\\s+(?:instructions|consignes|directives|règles)\\s+(?:précédentes|antérieures|ci-dessus)',
      '(?is)^(?:ignor[ae]|olvid[ae])\\s+(?:(?:todas|las|tus|sus|as|suas)\\s+){1,3}(?:instrucciones|instruções|órdenes|reglas|regras)\\s+(?:anteriores|previas|prévias)',
      '(?is)^(?:ignora|dimentica)\\s+(?:(?:tutte|le|tue)\\s+){1,3}(?:istruzioni|regole)\\s+(?:precedenti|sopra)',
      '(?is)^(?:esqueça|ignore)\\s+(?:(?:todas|as|suas)\\s+){1,3}(?:instruções|regras)\\s+anteriores',
      '(?is)^(?:игнорируй|игнорируйте|забудь|забудьте)\\s+(?:все\\s+)?(?:предыдущие|прежние)\\s+(?:инструкции|указания|правила)',
      '(?s)^(?:忽略|无视|無視|忘记).{0,8}(?:之前|以前|先前|上述|以上|上面|前面).{0,6}(?:指令|指示|说明|提示|規則|规则)',
    ],
  },
  {
    name: 'role_marker',
    meaning: 'to be a message of the system',
    words: 'system\\b',
    marks: '<\\||\\[\\/?INST\\]|<<\\/?SYS>>|<(?:start|end)_of_turn>|"role"',
    needs: /^(?:[<["]|system(?:\s+\w+)?[\])>*#\s]{0,4}:|system\s+content)/iu,
    patterns: [
      '(?is)^(?:<\\|(?:im_start|im_end|system|start_header_id|end_header_id|eot_id|begin_of_text)\\|>|\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>)',
      '(?is)^system(?:\\s+(?:message|prompt|notice|override|instructions?))?[\\])>*#\\s]{0,4}:[\\s*"]{0,4}(?:you\\b|your\\b|ignore\\b|disregard\\b|forget\\b|from\\s+now\\s+on|override\\b|the\\s+(?:assistant|agent|model|judge)\\s+(?:must|should|shall|is\\s+to))',
      // An object with these members, text by text.
      '(?is)^system\\s+content\\s+(?:you\\s+(?:must|should|shall|are\\s+now)|ignore\\b|disregard\\b|forget\\b|from\\s+now\\s+on|override\\b)',
      '(?is)^"role"\\s*:\\s*"(?:system|developer)"\\s*,\\s*"content"\\s*:\\s*"(?:you\\s+(?:must|should|shall|are\\s+now)|ignore\\b|disregard\\b|forget\\b|from\\s+now\\s+on|override\\b)',
    ],
  },
  {
    name: 'new_role',
    meaning: 'to take another role, without rules',
    words: 'you\\s+(?:are|no)|pretend|act\\s+as|behave|role-?play',
    needs: /^(?:you\s+(?:are\s+)?no(?:w|\s+longer)|[^y])/iu,
    patterns: [
      '(?is)^you\\s+are\\s+now\\s+(?:DAN\\b|in\\s+(?:developer|debug|god|admin|maintenance|unrestricted|jailbreak)\\s+mode|an?\\s+(?:unrestricted|unfiltered|uncensored|evil|different|new|jailbroken)\\s+(?:AI|assistant|model|agent|bot|persona))',
      '(?is)^you\\s+(?:are\\s+)?no\\s+longer\\s+(?:have|need|bound|required|obliged|restricted)\\s+(?:to\\s+(?:follow|obey)\\s+|by\\s+|to\\s+)?(?:any|your|the|these)\\s+(?:\\pL+\\s+)?(?:rules|restrictions|instructions|guidelines|policies)',
      '(?is)^(?:pretend\\s+(?:to\\s+be|you\\s+are|that\\s+you\\s+are)|act\\s+as|behave\\s+(?:as|like)|role-?play\\s+as)\\s+(?:if\\s+you\\s+were\\s+)?(?:an?\\s+)?(?:unrestricted|unfiltered|uncensored|evil|jailbroken|DAN\\b)',
    ],
  },
  {
    name: 'verdict_demand',
    meaning: 'for a good verdict',
    words: 'answer|respond|reply|give|assign|award|mark|rate',
    wholeWords: true,
    needs: /^\w+\s+th(?:is|e)\s|pass|correct|excellent/iu,
    patterns: [
      '(?is)^(?:answer|respond|reply)\\s+(?:only\\s+|just\\s+|simply\\s+|always\\s+)?(?:with\\s+)?(?:only\\s+)?(?:the\\s+word\\s+)?["\'“”]?(?:pass|passed|correct|excellent)\\b',
      '(?is)^(?:give|assign|award)\\s+(?:this|the)\\s+(?:run|agent|trace|trajectory|evaluation)\\s+(?:an?\\s+|the\\s+)?(?:perfect|full|top|high|highest|maximum|best|good|score|rating|grade|label)\\b',
      '(?is)^(?:mark|rate)\\s+(?:this|the)\\s+(?:run|trace|trajectory|evaluation|agent)\\s+as\\s+(?:passed|pass|correct|successful|good|excellent|perfect)\\b',
    ],
  },
  {
    name: 'agent_address',
    meaning: 'to any model that reads it',
    words: 'note|message|notice|memo|instructions?|attention|if\\s+you\\s+are',
    wholeWords: true,
    needs: /^(?:if\s|\w+[:,]?\s+(?:(?:to|for)\s*)?(?:(?:any|all|the|every)\s*)?(?:AI|LLM|language\s|chatbot))/iu,
    patterns: [
      '(?is)^(?:note|message|notice|memo|instructions?|attention)[:,]?\\s+(?:to|for)?\\s*(?:any|all|the|every)?\\s*(?:AI|LLM|language\\s+model|chatbot)s?(?:\\s+(?:assistant|agent|model|system|reader|crawler)s?)?\\s*(?:[:,!]|that\\s+reads?\\b|reading\\b|processing\\b|who\\s+reads?\\b)',
      '(?is)^if\\s+you\\s+are\\s+an?\\s+(?:AI|LLM|large\\s+language\\s+model|language\\s+model|artificial\\s+intelligence|automated\\s+agent)\\b',
    ],
  },
  {
    name: 'concealment',
    meaning: 'to keep something from the user',
    words: "do\\s+not|don['’]t|never",
    wholeWords: true,
    needs: /^\S+\s+(?:not\s+)?(?:mention|tell|reveal|disclose|say|inform|alert|notify|warn)/iu,
    patterns: [
      "(?is)^(?:do\\s+not|don['’]t|never)\\s+(?:mention|tell|reveal|disclose|say)\\s+(?:anything\\s+about\\s+)?(?:this|these|that|it|any\\s+of\\s+this)(?:\\s+(?:instructions?|message|step|note|text|action))?\\s+to\\s+(?:the\\s+|your\\s+)?(?:user|human|operator)",
      "(?is)^(?:do\\s+not|don['’]t|never)\\s+(?:tell|inform|alert|notify|warn)\\s+(?:the\\s+|your\\s+)?(?:user|human|operator)s?\\s+(?:about|of|that)\\s+(?:this|these|it|you)\\b",
    ],
  },
  {
    name: 'exfiltration',
    meaning: 'to send what the agent knows elsewhere',
    words: 'send|forward|upload|post|e-?mail|transmit|exfiltrate|leak',
    wholeWords: true,
    needs: /conversation|history|prompt|user['’]s/iu,
    patterns: [
      "(?is)^(?:send|forward|upload|post|e-?mail|transmit|exfiltrate|leak)\\s.{0,60}?(?:conversation|chat\\s+history|message\\s+history|system\\s+prompt|user['’]s\\s+(?:data|messages|credentials|password|files|secrets))\\b.{0,60}?(?:https?://|[\\w.+-]+@[\\w-]+\\.)",
    ],
  },
  {
    name: 'prompt_leak',
    meaning: 'for the instructions of the agent',
    words: 'reveal|print|show|repeat|output|display|disclose|write',
    wholeWords: true,
    needs: /your\s/iu,
    patterns: [
      '(?is)^(?:reveal|print|show|repeat|output|display|disclose|write)\\s+(?:me\\s+)?(?:out\\s+)?(?:all\\s+of\\s+)?your\\s+(?:(?:full|whole|entire|exact)\\s+)?(?:system|initial|hidden|original|secret)\\s+(?:prompt|instructions?|message)',
    ],
  },
  {
    name: 'fence',
    meaning: 'to end the data',
    marks: '\\[\\[\\s?(?:END|BEGIN)|[-=#<*_]{3}\\s?(?:end|begin)|<\\/',
    needs: /^(?:\[\[|[-=#<*_]{3}|<\/(?:tool|function|untrusted|document|retrieved|system))/iu,
    patterns: [
      '^\\[\\[\\s?(?:END|BEGIN)(?:\\]\\]| [0-9a-z]+[ \\]])',
      '(?is)^[-=#<*_]{3}\\s?(?:end|begin)\\s+(?:of\\s+)?(?:the\\s+)?(?:untrusted|tool|context|user|retrieved|external)\\s+(?:data|input|outputs?|results?|content|message|documents?)\\b',
      '(?i)^</(?:tool_result|tool_response|tool_output|function_results?|function_call_result|untrusted[a-z_-]*|document_content|retrieved_content|system_prompt)>',
    ],
  },
];

interface Sought {
  readonly sign: Sign;
  /** All places where a search begins. */
  readonly places: RegExp;
  readonly marks: RegExp | undefined;
}

/** Every sign by its name: what the text asks for. */
export const signMeanings: { readonly [sign: string]: string } = {
  ...Object.fromEntries(signs.map(({ name, meaning }) => [name, meaning])),
  hidden_text: 'by text that people do not see',
};

/** Characters from a word on in which its sign must stand. */
const pieceMax = 240;
const excerptMax = 80;
/** Side by side: fewer are what mail programs and fonts leave behind. */
const hiddenLeast = 8;
const hiddenRunsMax = 1_000;

const sought: readonly Sought[] = signs.map((sign) => ({
  sign,
  places: placesOf(sign),
  marks: sign.marks === undefined ? undefined : new RegExp(sign.marks, 'iu'),
}));
const soughtByWords = sought.filter(({ sign }) => sign.words !== undefined);
/** The place before a word of any sign; the word is in the group of that sign. It may match before too many characters, which is fast; `places` are exact. */
const BEFORE_WORD = new RegExp(`(?:^|[^a-z\\d])(?=${soughtByWords.map(({ sign: { words = '' } }) => `(${words})`).join('|')})`, 'gi');
/** From this number of words on a search for the places of every sign is faster. */
const wordsMax = 100;
/** Anything else may be hidden, or have another normal form. */
const UNUSUAL = /[^\t\n -~]/;

/** The signs in a text, each once. `work` counts the places; when it is used up, the search ends. */
export function injectionSigns(text: string, context: EvaluationContext, work: Work): readonly FoundSign[] {
  const isUsual = !UNUSUAL.test(text);
  // As a model reads it: letters of other widths are the letters, and what is hidden between letters does not part them.
  const bare = isUsual ? text : withoutHidden(text);
  const plain = isUsual ? text : bare.normalize('NFKC');
  const found = mayHold(plain).flatMap(({ sign: { name, needs, patterns }, places }): readonly FoundSign[] => {
    for (const { index } of plain.matchAll(places)) {
      if (work.steps <= 0) return [];
      work.steps--;
      const piece = plain.slice(index, index + pieceMax);
      if (needs?.test(piece) !== false && patterns.some((source) => context.pattern(source).test(piece)))
        return [{ sign: name, excerpt: piece.slice(0, excerptMax) }];
    }
    return [];
  });
  return bare.length === text.length ? found : [...found, ...hiddenText(text)];
}

function placesOf({ words, wholeWords, marks }: Sign): RegExp {
  const wordPlaces = words === undefined ? [] : [`(?<![\\p{L}\\p{N}])(?:${words})${wholeWords === true ? '(?![\\p{L}\\p{N}])' : ''}`];
  return new RegExp([...wordPlaces, ...(marks === undefined ? [] : [marks])].join('|'), 'giu');
}

/** The signs that have a place in the text, and perhaps some that have none. One search for the words of all is faster than one for each sign's. */
function mayHold(plain: string): readonly Sought[] {
  const seen = new Set<Sought | undefined>();
  let words = 0;
  for (const match of plain.matchAll(BEFORE_WORD)) {
    if (++words > wordsMax) return sought;
    seen.add(soughtByWords[match.findLastIndex((group) => group !== undefined) - 1]);
  }
  return sought.filter((one) => seen.has(one) || one.marks?.test(plain) === true);
}

/** Tags and turned text have no use in a result; of other hidden characters it takes many, of more than one kind, to say something. */
function hiddenText(text: string): readonly FoundSign[] {
  const run = hiddenRuns(text, hiddenRunsMax).find(({ kind, at, count, length }) => {
    const signsThere = text.slice(at, at + length);
    if (kind === 'tag' || /[\u202d\u202e]/.test(signsThere)) return true;
    return (kind === 'zero_width' || kind === 'variation_selector') && count >= hiddenLeast && new Set(signsThere).size > 1;
  });
  return run === undefined ? [] : [{ sign: 'hidden_text', excerpt: revealed(text.slice(run.at, run.at + Math.min(run.length, 10))) }];
}
