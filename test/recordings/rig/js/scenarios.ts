/**
 * Answers of the scripted model. `pass` is the call that gives the work to the second agent: SDKs name it differently.
 * Every call gets a new id.
 */
interface Call {
  readonly name: string;
  readonly arguments: object;
}

type Step = Call | { readonly pass: true };

interface Scenario {
  readonly turns: readonly string[];
  readonly session?: string;
  readonly streamed?: boolean;
  /** By agent: its answers, either calls or the text. */
  readonly script: { readonly [agent: string]: readonly (string | readonly Step[])[] };
}

export interface ScriptedCall extends Call {
  readonly id: string;
  readonly pass?: true;
  /** A tool of the framework by which the model gives its answer. */
  readonly isFinal?: true;
}

export interface Answer {
  readonly calls?: readonly ScriptedCall[];
  /** The text of the call of the final tool, beside calls. */
  readonly text?: string;
}

export interface Script {
  readonly [agent: string]: readonly Answer[];
}

const find = (order_id: string): Call => ({ name: 'find_order', arguments: { order_id } });
const refund = (order_id: string, amount: number, reasons: readonly string[]): Call => ({
  name: 'refund_order',
  arguments: { order_id, amount, reasons },
});
const pass: Step = { pass: true };

const lamp = 'Order A-1042: the lamp arrived broken. Please refund 39.95.';
const refunded = 'I refunded 39.95 for order A-1042 (refund RF-88).';
const lampRefund = refund('A-1042', 39.95, ['lamp', 'broken on arrival']);
const sequence: Scenario = { turns: [lamp], script: { order_support: [[find('A-1042')], [lampRefund], refunded] } };
const done = 'The refund RF-88 of 39.95 is on its way.';

const scenarios: { readonly [name: string]: Scenario } = {
  text: { turns: ['What are your opening hours?'], script: { order_support: ['We answer from 9 to 17, Monday to Friday.'] } },
  sequential: sequence,
  stream: { ...sequence, streamed: true },
  parallel: {
    turns: ['Where are my orders A-1042 and A-1043?'],
    script: { order_support: [[find('A-1042'), find('A-1043')], 'A-1042 is delivered, A-1043 is on its way.'] },
  },
  toolerror: {
    turns: ['Refund 500 for order A-1042.'],
    script: {
      order_support: [[find('A-1042')], [refund('A-1042', 500, ['customer asked'])], 'I cannot refund 500: the order cost 79.90 in total.'],
    },
  },
  repeat: {
    turns: ['Has order A-1043 arrived?'],
    script: { order_support: [[find('A-1043')], [find('A-1043')], [find('A-1043')], 'Order A-1043 has not arrived yet.'] },
  },
  nonascii: {
    turns: ['Bestellung Ä-7: die Lampe 💡 ist kaputt (壊れた). Bitte 12,50 € zurück.'],
    script: { order_support: [[refund('Ä-7', 12.5, ['Lampe 💡', '壊れた'])], 'Erledigt: 12,50 € zurück für Ä-7 – “RF-88” ✓'] },
  },
  multiturn: {
    session: 'session-31',
    turns: ['Where is order A-1043?', 'Then refund 8.50 for the delay, please.'],
    script: {
      order_support: [
        [find('A-1043')],
        'Order A-1043 is on its way.',
        [refund('A-1043', 8.5, ['late'])],
        'I refunded 8.50 for order A-1043 (refund RF-88).',
      ],
    },
  },
  /** The second agent answers the user. */
  handoff: { turns: [lamp], script: { order_support: [[find('A-1042')], [pass]], refund_desk: [[lampRefund], refunded] } },
  /** The second agent does its work, the first one answers the user. */
  supervisor: { turns: [lamp], script: { order_support: [[find('A-1042')], [pass], refunded], refund_desk: [[lampRefund], done] } },
  'agent-as-tool': { turns: [lamp], script: { order_support: [[find('A-1042')], [pass], refunded], refund_desk: [[lampRefund], done] } },
  'agent-as-tool-error': {
    turns: ['Refund 500 for order A-1042.'],
    script: {
      order_support: [[pass], 'We cannot refund 500.'],
      refund_desk: [[refund('A-1042', 500, ['customer asked'])], 'The amount is too high.'],
    },
  },
};

export function scenarioOf(name: string): Scenario {
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return scenario;
}

export interface FinalTool {
  readonly name: string;
  readonly argument: string;
}

/** The script with ids, as the model server reads it. `passing` is the call that gives the work away. */
export function scriptOf(scenario: string, passing: Call | undefined, finalTool?: FinalTool): Script {
  let nth = 0;
  const called = (step: Step): ScriptedCall => {
    nth += 1;
    const id = `call_${nth}x7Kq${scenario.length}`;
    if (!('pass' in step)) return { id, ...step };
    if (passing === undefined) throw new Error(`${scenario} needs the name of the call that passes the work on`);
    return { id, name: passing.name, arguments: passing.arguments, pass: true };
  };
  const finalOf = (text: string): Answer => {
    if (finalTool === undefined) return { text };
    nth += 1;
    return {
      text,
      calls: [{ id: `call_${nth}x7Kq${scenario.length}`, name: finalTool.name, arguments: { [finalTool.argument]: text }, isFinal: true }],
    };
  };
  return Object.fromEntries(
    Object.entries(scenarioOf(scenario).script).map(([agent, answers]) => [
      agent,
      answers.map((answer): Answer => (typeof answer === 'string' ? finalOf(answer) : { calls: answer.map(called) })),
    ]),
  );
}
