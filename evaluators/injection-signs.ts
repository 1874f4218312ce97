/**
 * Signs that a text gives orders to the model that reads it. Each is looked for where one of its words stands, in a short piece of text
 * from there on, by a pattern of a linear-time engine: the work grows with the length of the text and with nothing else.
 */
import type { EvaluationContext, Work } from './evaluator.ts';
import { hiddenRuns, revealed, withoutHidden } from './hidden-characters.ts';

export interface FoundSign {
  readonly sign: string;
  /** What stands there, in part, with hidden characters written out. */
  readonly excerpt: string;
}

interface Sign {
  readonly name: string;
  readonly meaning: string;
  /** Where to look; finds words and no more, so that it is fast. */
  readonly from: RegExp;
  /** What must stand there. */
  readonly patterns: readonly string[];
}

const about = '(?:instructions?|prompts?|directives?|guidelines|orders)';
const before = '(?:previous|prior|above|earlier|preceding|former|original|initial|system|safety)';

const signs: readonly Sign[] = [
  {
    name: 'ignore_instructions',
    meaning: 'to forget the instructions that came before',
    from: /(?<![\p{L}\p{N}])(?:ignor|disregard|forget|bypass|vergiss|vergessen|missachte|oubli|olvid|dimentica|esque|игнорир|забудь)|忽略|无视|無視|忘记/giu,
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
    from: /<\||\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>|(?<![\p{L}\p{N}])system\b|"role"/giu,
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
    from: /(?<![\p{L}\p{N}])(?:you\s+(?:are|no)|pretend|act\s+as|behave|role-?play)/giu,
    patterns: [
      '(?is)^you\\s+are\\s+now\\s+(?:DAN\\b|in\\s+(?:developer|debug|god|admin|maintenance|unrestricted|jailbreak)\\s+mode|an?\\s+(?:unrestricted|unfiltered|uncensored|evil|different|new|jailbroken)\\s+(?:AI|assistant|model|agent|bot|persona))',
      '(?is)^you\\s+(?:are\\s+)?no\\s+longer\\s+(?:have|need|bound|required|obliged|restricted)\\s+(?:to\\s+(?:follow|obey)\\s+|by\\s+|to\\s+)?(?:any|your|the|these)\\s+(?:\\pL+\\s+)?(?:rules|restrictions|instructions|guidelines|policies)',
      '(?is)^(?:pretend\\s+(?:to\\s+be|you\\s+are|that\\s+you\\s+are)|act\\s+as|behave\\s+(?:as|like)|role-?play\\s+as)\\s+(?:if\\s+you\\s+were\\s+)?(?:an?\\s+)?(?:unrestricted|unfiltered|uncensored|evil|jailbroken|DAN\\b)',
    ],
  },
  {
    name: 'verdict_demand',
    meaning: 'for a good verdict',
    from: /(?<![\p{L}\p{N}])(?:answer|respond|reply|give|assign|award|mark|rate)(?![\p{L}\p{N}])/giu,
    patterns: [
      '(?is)^(?:answer|respond|reply)\\s+(?:only\\s+|just\\s+|simply\\s+|always\\s+)?(?:with\\s+)?(?:only\\s+)?(?:the\\s+word\\s+)?["\'“”]?(?:pass|passed|correct|excellent)\\b',
      '(?is)^(?:give|assign|award)\\s+(?:this|the)\\s+(?:run|agent|trace|trajectory|evaluation)\\s+(?:an?\\s+|the\\s+)?(?:perfect|full|top|high|highest|maximum|best|good|score|rating|grade|label)\\b',
      '(?is)^(?:mark|rate)\\s+(?:this|the)\\s+(?:run|trace|trajectory|evaluation|agent)\\s+as\\s+(?:passed|pass|correct|successful|good|excellent|perfect)\\b',
    ],
  },
  {
    name: 'agent_address',
    meaning: 'to any model that reads it',
    from: /(?<![\p{L}\p{N}])(?:note|message|notice|memo|instructions?|attention|if\s+you\s+are)(?![\p{L}\p{N}])/giu,
    patterns: [
      '(?is)^(?:note|message|notice|memo|instructions?|attention)[:,]?\\s+(?:to|for)?\\s*(?:any|all|the|every)?\\s*(?:AI|LLM|language\\s+model|chatbot)s?(?:\\s+(?:assistant|agent|model|system|reader|crawler)s?)?\\s*(?:[:,!]|that\\s+reads?\\b|reading\\b|processing\\b|who\\s+reads?\\b)',
      '(?is)^if\\s+you\\s+are\\s+an?\\s+(?:AI|LLM|large\\s+language\\s+model|language\\s+model|artificial\\s+intelligence|automated\\s+agent)\\b',
    ],
  },
  {
    name: 'concealment',
    meaning: 'to keep something from the user',
    from: /(?<![\p{L}\p{N}])(?:do\s+not|don['’]t|never)(?![\p{L}\p{N}])/giu,
    patterns: [
      "(?is)^(?:do\\s+not|don['’]t|never)\\s+(?:mention|tell|reveal|disclose|say)\\s+(?:anything\\s+about\\s+)?(?:this|these|that|it|any\\s+of\\s+this)(?:\\s+(?:instructions?|message|step|note|text|action))?\\s+to\\s+(?:the\\s+|your\\s+)?(?:user|human|operator)",
      "(?is)^(?:do\\s+not|don['’]t|never)\\s+(?:tell|inform|alert|notify|warn)\\s+(?:the\\s+|your\\s+)?(?:user|human|operator)s?\\s+(?:about|of|that)\\s+(?:this|these|it|you)\\b",
    ],
  },
  {
    name: 'exfiltration',
    meaning: 'to send what the agent knows elsewhere',
    from: /(?<![\p{L}\p{N}])(?:send|forward|upload|post|e-?mail|transmit|exfiltrate|leak)(?![\p{L}\p{N}])/giu,
    patterns: [
      "(?is)^(?:send|forward|upload|post|e-?mail|transmit|exfiltrate|leak)\\s.{0,60}?(?:conversation|chat\\s+history|message\\s+history|system\\s+prompt|user['’]s\\s+(?:data|messages|credentials|password|files|secrets))\\b.{0,60}?(?:https?://|[\\w.+-]+@[\\w-]+\\.)",
    ],
  },
  {
    name: 'prompt_leak',
    meaning: 'for the instructions of the agent',
    from: /(?<![\p{L}\p{N}])(?:reveal|print|show|repeat|output|display|disclose|write)(?![\p{L}\p{N}])/giu,
    patterns: ['(?is)^(?:reveal|print|show|repeat|output|display|disclose|write)\\s+(?:me\\s+)?(?:out\\s+)?(?:all\\s+of\\s+)?your\\s+(?:(?:full|whole|entire|exact)\\s+)?(?:system|initial|hidden|original|secret)\\s+(?:prompt|instructions?|message)'],
  },
  {
    name: 'fence',
    meaning: 'to end the data',
    from: /\[\[\s?(?:END|BEGIN)|[-=#<*_]{3}\s?(?:end|begin)|<\//giu,
    patterns: [
      '^\\[\\[\\s?(?:END|BEGIN)(?:\\]\\]| [0-9a-z]+[ \\]])',
      '(?is)^[-=#<*_]{3}\\s?(?:end|begin)\\s+(?:of\\s+)?(?:the\\s+)?(?:untrusted|tool|context|user|retrieved|external)\\s+(?:data|input|outputs?|results?|content|message|documents?)\\b',
      '(?i)^</(?:tool_result|tool_response|tool_output|function_results?|function_call_result|untrusted[a-z_-]*|document_content|retrieved_content|system_prompt)>',
    ],
  },
];

/** Every sign by its name: what the text asks for. */
export const signMeanings: { readonly [sign: string]: string } = { ...Object.fromEntries(signs.map(({ name, meaning }) => [name, meaning])), hidden_text: 'by text that people do not see' };

/** Characters from a word on in which its sign must stand. */
const pieceMax = 240;
const excerptMax = 80;
/** Side by side: fewer are what mail programs and fonts leave behind. */
const hiddenLeast = 8;
const hiddenRunsMax = 1_000;

/** The signs in a text, each once. `work` counts the places that are looked at; when it is used up the rest is left. */
export function injectionSigns(text: string, context: EvaluationContext, work: Work): readonly FoundSign[] {
  // As a model reads it: letters of other widths are the letters, and what is hidden between letters does not part them.
  const plain = withoutHidden(text).normalize('NFKC');
  const told = signs.flatMap((sign): readonly FoundSign[] => {
    for (const match of plain.matchAll(sign.from)) {
      if (work.steps <= 0) return [];
      work.steps--;
      const piece = plain.slice(match.index, match.index + pieceMax);
      if (sign.patterns.some((source) => context.pattern(source).test(piece))) return [{ sign: sign.name, excerpt: piece.slice(0, excerptMax) }];
    }
    return [];
  });
  return [...told, ...hiddenText(text)];
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
