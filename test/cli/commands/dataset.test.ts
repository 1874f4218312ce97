/** `tracejury dataset import`: what becomes of each format, and what is said about files that are none. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-import-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...words: readonly string[]): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function lines(text: string): readonly unknown[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

const asked = { role: 'user', content: 'Weather in Rome?' };
const calling = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
};
const answered = { role: 'tool', tool_call_id: 'c', content: 'sunny' };
const trajectory = [asked, calling, answered, { role: 'assistant', content: 'Sunny.' }];
const weather = { name: 'weather', arguments: { city: 'Rome' } };
const parts = (text: string): object => ({ role: 'user', parts: [{ text: 'thinking', thought: true }, { text }] });

const peerTables: readonly {
  readonly name: string;
  readonly from: string;
  readonly given: unknown;
  readonly want: readonly unknown[];
}[] = [
  {
    name: 'an export in JSON lines, with splits, single and several outputs',
    from: 'langsmith',
    given: [
      { id: 'a', inputs: { question: 'Weather?' }, outputs: { answer: 'Sunny.' }, metadata: { dataset_split: ['base'], lang: 'en' } },
      {
        id: 'b',
        inputs: { q: 1, r: 2 },
        outputs: { x: 1, y: 2 },
        metadata: { dataset_split: ['test'] },
        created_at: '2026-01-01',
        source_run_id: null,
      },
      { id: 'c', inputs: { messages: [asked] }, outputs: { messages: trajectory } },
    ]
      .map((one) => JSON.stringify(one))
      .join('\n'),
    want: [
      { id: 'a', input: 'Weather?', expect: { output: 'Sunny.' }, metadata: { lang: 'en' } },
      { id: 'b', input: { q: 1, r: 2 }, expect: { output: { x: 1, y: 2 } }, split: 'test' },
      { id: 'c', input: [asked], expect: { messages: trajectory, tool_calls: [weather] } },
    ],
  },
  {
    name: 'a table',
    from: 'langsmith',
    given: 'id,input_question,output_answer\na,"Weather, please?",Sunny.\n',
    want: [{ id: 'a', input: 'Weather, please?', expect: { output: 'Sunny.' } }],
  },
  {
    name: 'records with texts, objects and internal members',
    from: 'braintrust',
    given: [
      {
        id: 'a',
        input: 'Weather?',
        expected: 'Sunny.',
        tags: ['x'],
        metadata: { split: 'test', lang: 'en' },
        _xact_id: '1',
        created: 'now',
        is_root: true,
      },
      { id: 'b', input: { city: 'Rome', day: 1 }, expected: { tool_calls: [weather] }, tags: null },
    ],
    want: [
      { id: 'a', input: 'Weather?', expect: { output: 'Sunny.' }, tags: ['x'], split: 'test', metadata: { lang: 'en' } },
      { id: 'b', input: { city: 'Rome', day: 1 }, expect: { tool_calls: [weather] } },
    ],
  },
  {
    name: 'a table with cells of JSON',
    from: 'braintrust',
    given: 'id;input;expected;metadata\na;"{""city"":""Rome"",""day"":""1""}";Sunny.;"{""lang"":""en""}"\n',
    want: [{ id: 'a', input: { city: 'Rome', day: '1' }, expect: { output: 'Sunny.' }, metadata: { lang: 'en' } }],
  },
  {
    name: 'a table with lists as Python writes them, several lines in a cell, and a byte order mark',
    from: 'phoenix',
    given:
      "\ufeffexample_id,input_messages,input_city,output_answer,metadata_lang,note\r\na,\"[{'role': 'user', 'content': 'Hi'}]\",,\"Two\nlines\",en,mine\r\nb,,Rome,,,\r\n",
    want: [
      { id: 'a', input: [{ role: 'user', content: 'Hi' }], expect: { output: 'Two\nlines' }, metadata: { note: 'mine', lang: 'en' } },
      { id: 'b', input: 'Rome' },
    ],
  },
  {
    name: 'a table in the own form',
    from: 'tracejury',
    given:
      'id,input,output,expect.tool_calls,tags,split,timeout_seconds,metadata.lang\n7,Weather?,Sunny.,"[{""name"":""weather""}]","a, b",test,30,en\n',
    want: [
      {
        id: '7',
        input: 'Weather?',
        expect: { output: 'Sunny.', tool_calls: [{ name: 'weather' }] },
        tags: ['a', 'b'],
        split: 'test',
        metadata: { lang: 'en' },
        timeout_seconds: 30,
      },
    ],
  },
  {
    name: 'YAML in the own form',
    from: 'tracejury',
    given:
      'examples:\n  - id: a\n    input: x\n    expect: { output: y }\n    review: draft\n    evaluators: [ { use: output_contains, options: { text: y } } ]\n',
    want: [
      { id: 'a', input: 'x', expect: { output: 'y' }, evaluators: [{ use: 'output_contains', options: { text: 'y' } }], review: 'draft' },
    ],
  },
];

for (const { name, from, given, want } of peerTables)
  test(`dataset import: ${from}: ${name}`, async () => {
    const { code, out, err } = await run('dataset', 'import', file('given.txt', given), '--from', from);
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    expect(lines(out)).toEqual(want);
  });

const imports: readonly {
  readonly name: string;
  readonly from: string;
  readonly given: unknown;
  readonly want: readonly unknown[];
  readonly says?: RegExp;
}[] = [
  {
    name: 'goldens in snake_case, with calls, a bare tool name and context',
    from: 'deepeval',
    given: [
      {
        input: 'Weather?',
        expected_output: 'Sunny.',
        actual_output: null,
        context: ['It is June.'],
        retrieval_context: ['It rains.'],
        expected_tools: [{ name: 'weather', input_parameters: { city: 'Rome' }, output: 'sunny', reasoning: null }, 'notify'],
        tags: ['smoke'],
      },
      { input: 'Hello', expected_tools: null, context: [' '], name: 'greeting' },
    ],
    want: [
      {
        id: '1',
        input: 'Weather?',
        expect: { tool_calls: [{ ...weather, result: 'sunny' }, { name: 'notify' }], output: 'Sunny.', context: ['It is June.'] },
        tags: ['smoke'],
        metadata: { retrieval_context: ['It rains.'] },
      },
      { id: 'greeting', input: 'Hello' },
    ],
  },
  {
    name: 'goldens in camelCase under their name, a conversation left out, equal names distinguished',
    from: 'deepeval',
    given: {
      goldens: [
        { name: 'a', input: 'x', expectedTools: [{ name: 'weather', inputParameters: { city: 'Rome' } }] },
        { scenario: 'A long talk.' },
        { name: 'a', input: 'y', context: 'It is June.', expectedTools: [] },
      ],
    },
    want: [
      { id: 'a', input: 'x', expect: { tool_calls: [weather] } },
      { id: 'a (2)', input: 'y', expect: { tool_calls: [], context: ['It is June.'] } },
    ],
    says: /left out: \[1\] is a golden of a whole conversation/,
  },
  {
    name: 'one list of messages',
    from: 'agentevals',
    given: trajectory,
    want: [{ id: '1', input: 'Weather in Rome?', expect: { messages: trajectory, tool_calls: [weather] } }],
  },
  {
    name: 'reference outputs beside outputs and inputs',
    from: 'agentevals',
    given: [
      {
        id: 'rome',
        inputs: { question: 'Weather?' },
        outputs: { messages: [asked] },
        referenceOutputs: { messages: trajectory },
        metadata: { split: 'test' },
      },
    ],
    want: [{ id: 'rome', input: 'Weather?', expect: { messages: trajectory, tool_calls: [weather] }, metadata: { split: 'test' } }],
    says: /1 recorded run/,
  },
  {
    name: 'lists of messages, in the short form of LangChain, a line each',
    from: 'agentevals',
    given: [1, 2]
      .map(() =>
        JSON.stringify([
          { type: 'human', content: 'Hi' },
          { type: 'ai', content: '', tool_calls: [{ name: 'weather', args: { city: 'Rome' }, id: 'c' }] },
        ]),
      )
      .join('\n'),
    want: ['1', '2'].map((id) => ({
      id,
      input: 'Hi',
      expect: {
        messages: [
          { content: 'Hi', role: 'user' },
          { content: '', tool_calls: [{ name: 'weather', args: { city: 'Rome' }, id: 'c' }], role: 'assistant' },
        ],
        tool_calls: [weather],
      },
    })),
  },
  {
    name: 'an eval set: a run a turn, with its session',
    from: 'adk',
    given: {
      eval_set_id: 's',
      eval_cases: [
        {
          eval_id: 'trip',
          conversation: [
            {
              invocation_id: 'i1',
              user_content: parts('Weather?'),
              final_response: parts('Sunny.'),
              intermediate_data: { tool_uses: [{ name: 'weather', args: { city: 'Rome' }, id: 'c' }], intermediate_responses: [] },
            },
            { user_content: parts('Thanks'), final_response: null, intermediate_data: { tool_uses: [] } },
          ],
          session_input: { app_name: 'trips', user_id: 'u', state: {} },
          creation_timestamp: 0,
        },
      ],
    },
    want: [
      {
        id: 'trip/1',
        input: 'Weather?',
        expect: { tool_calls: [weather], output: 'Sunny.' },
        metadata: { session_input: { app_name: 'trips', user_id: 'u', state: {} }, invocation_id: 'i1' },
      },
      {
        id: 'trip/2',
        input: 'Thanks',
        expect: { tool_calls: [] },
        metadata: { session_input: { app_name: 'trips', user_id: 'u', state: {} } },
      },
    ],
  },
  {
    name: 'an eval set in camelCase, calls among the events, a scenario left out',
    from: 'adk',
    given: {
      evalSetId: 's',
      evalCases: [
        {
          evalId: 'one',
          conversation: [
            {
              userContent: parts('Weather?'),
              intermediateData: {
                invocationEvents: [
                  { author: 'a', content: { parts: [{ functionCall: { name: 'weather', args: { city: 'Rome' } } }, { text: 'wait' }] } },
                  { author: 'a' },
                ],
              },
            },
          ],
        },
        { evalId: 'two', conversationScenario: { startingPrompt: 'Hi' } },
      ],
    },
    want: [{ id: 'one', input: 'Weather?', expect: { tool_calls: [weather] } }],
    says: /left out: eval_cases\[1\] has a scenario/,
  },
  {
    name: 'older test files, plain and in sessions',
    from: 'adk',
    given: [
      { query: 'Weather?', expected_tool_use: [{ tool_name: 'weather', tool_input: { city: 'Rome' } }], reference: 'Sunny.' },
      { name: 'session', data: [{ query: 'Hi' }, { query: 'Bye', expected_tool_use: [] }] },
    ],
    want: [
      { id: '1', input: 'Weather?', expect: { tool_calls: [weather], output: 'Sunny.' } },
      { id: 'session/1', input: 'Hi' },
      { id: 'session/2', input: 'Bye', expect: { tool_calls: [] } },
    ],
  },
  {
    name: 'maps of inputs and outputs with tasks and tools',
    from: 'dokimos',
    given: {
      name: 'trips',
      examples: [
        {
          id: 'g',
          inputs: { input: 'Weather?', locale: 'en' },
          expectedOutputs: {
            output: 'Sunny.',
            toolCalls: [{ name: 'weather', arguments: { city: 'Rome' }, result: null, metadata: {} }],
            confidence: 1,
          },
          metadata: { tools: [{ name: 'weather' }], tasks: ['tell the weather'], constraints: ['short', 'kind'], suite: 's' },
        },
        { input: 'Hi', expectedOutput: 'Hello' },
        { inputs: { question: 'Which?', documentIds: ['d'] }, expectedOutputs: { answer: 'That.' }, metadata: {} },
      ],
    },
    want: [
      {
        id: 'g',
        input: 'Weather?',
        expect: { tool_calls: [weather], output: 'Sunny.' },
        tasks: ['tell the weather'],
        constraints: 'short\nkind',
        tools: [{ name: 'weather' }],
        metadata: { suite: 's', inputs: { locale: 'en' }, expected_outputs: { confidence: 1 } },
      },
      { id: '2', input: 'Hi', expect: { output: 'Hello' } },
      { id: '3', input: { question: 'Which?', documentIds: ['d'] }, expect: { output: 'That.' } },
    ],
  },
];

for (const { name, from, given, want, says } of imports) {
  test(`dataset import: ${from}: ${name}`, async () => {
    const { code, out, err } = await run('dataset', 'import', file('given.json', given), '--from', from);
    expect({ code, examples: lines(out) }).toEqual({ code: 0, examples: want });
    expect(err).toMatch(says ?? new RegExp(`^${want.length} examples?, 0 recorded runs$`));
  });
}

const broken: readonly { readonly name: string; readonly from: string; readonly given: unknown; readonly says: readonly RegExp[] }[] = [
  { name: 'no JSON', from: 'deepeval', given: '[1\n{"a":', says: [/line 1 is not JSON/] },
  { name: 'nothing', from: 'dokimos', given: { examples: [] }, says: [/it has no example/] },
  { name: 'another kind of file', from: 'deepeval', given: { resourceSpans: [] }, says: [/neither a list nor an object with goldens/] },
  {
    name: 'several faults at once',
    from: 'deepeval',
    given: [
      3,
      { input: '' },
      { input: 'x', expected_tools: [{ output: 1 }] },
      { input: 'x', expected_tools: 'weather' },
      { input: 'x', tools_called: [{ name: 't', input_parameters: [1] }] },
      { input: 'x', context: [1] },
    ],
    says: [
      /\[0\] is not an object; \[1\]\.input is missing; \[2\]\.expected_tools\[0\] has no name; \[3\]\.expected_tools is not a list of tool calls; \[4\]\.tools_called\[0\]\.input_parameters is not an object; \[5\]\.context is not a list of texts/,
    ],
  },
  { name: 'tags that are not texts', from: 'deepeval', given: [{ input: 'x', tags: [1] }], says: [/examples\[0\]\.tags\[0\]/] },
  {
    name: 'a graph trajectory',
    from: 'agentevals',
    given: [{ results: [], steps: [['agent']] }, { reference_outputs: { results: [], steps: [] } }, 7],
    says: [/\[0\] has no list of messages/, /\[1\] is a graph trajectory/, /\[2\] is neither/],
  },
  {
    name: 'messages that are none',
    from: 'agentevals',
    given: [[asked, { content: 'who?' }], { messages: [{ role: 'assistant', tool_calls: [{ id: 'x' }] }] }],
    says: [/\[0\]\[1\]\.role must be a text/, /\[1\]\[0\]\.tool_calls\[0\] must be a call with a name/],
  },
  {
    name: 'cases without turns or texts',
    from: 'adk',
    given: {
      eval_cases: [
        { eval_id: 'a' },
        { eval_id: 'b', conversation: [{ user_content: { parts: [{ inline_data: {} }] } }, 5] },
        6,
        { name: 's', data: [7, {}] },
      ],
    },
    says: [
      /eval_cases\[0\]\.conversation is missing/,
      /eval_cases\[1\]\.conversation\[0\]\.user_content has no text/,
      /eval_cases\[1\]\.conversation\[1\] is not an object/,
      /eval_cases\[2\] is not an object/,
      /eval_cases\[3\]\.data\[0\] is not an object; eval_cases\[3\]\.data\[1\]\.query is missing/,
    ],
  },
  {
    name: 'a table without input columns',
    from: 'phoenix',
    given: 'example_id,output_answer\nx,y\n',
    says: [/row 1 has no input: its columns begin with input_/],
  },
  {
    name: 'a table with two columns of one name',
    from: 'braintrust',
    given: 'input,input\na,b\n',
    says: [/two columns have the name "input"/],
  },
  { name: 'a table with a cell too many', from: 'langsmith', given: 'inputs,outputs\na,b,c\n', says: [/it is not CSV on line 2/] },
  {
    name: 'columns that no example has',
    from: 'tracejury',
    given: 'input,colour\na,b\n',
    says: [/row 1: "colour" is not a column; columns are id, input/],
  },
  {
    name: 'a wrong expectation',
    from: 'tracejury',
    given: '- id: a\n  input: x\n  expect: { tool_call: [] }\n',
    says: [/broken\.json:3:\d+ examples\[0\]\.expect\.tool_call: is not known/],
  },
  {
    name: 'records without input',
    from: 'braintrust',
    given: [{ expected: 'x' }, 7],
    says: [/\[0\]\.input is missing; \[1\] is not an object/],
  },
  { name: 'examples without inputs', from: 'langsmith', given: [{ outputs: {} }], says: [/\[0\]\.inputs is missing/] },
  { name: 'no cases', from: 'adk', given: { eval_set_id: 's' }, says: [/neither an object with eval_cases nor a list/] },
  {
    name: 'examples without input, and maps that are none',
    from: 'dokimos',
    given: { examples: [{ expectedOutput: 'x' }, { inputs: 'x' }, 'x'] },
    says: [/examples\[0\] has no input/, /examples\[1\]\.inputs is not an object/, /examples\[2\] is not an object/],
  },
  {
    name: 'tasks that are not a list',
    from: 'dokimos',
    given: [{ input: 'x', metadata: { tasks: 'all' } }],
    says: [/examples\[0\]\.tasks must be array/],
  },
];

for (const { name, from, given, says } of broken) {
  test(`dataset import: ${from}: ${name} is refused, with the place`, async () => {
    const output = join(folder, 'not-written.jsonl');
    const { code, out, err } = await run('dataset', 'import', file('broken.json', given), '--from', from, '--output', output);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    for (const said of says) expect(err).toMatch(said);
    expect(() => readFileSync(output)).toThrow(/ENOENT/);
  });
}

for (const { name, words, says } of [
  { name: 'no action', words: ['dataset'], says: /Name the action: add, list, show, export, import, diff, split, review, remove/ },
  { name: 'another action', words: ['dataset', 'erase', 'x'], says: /"erase" is not one of add, list/ },
  { name: 'no file', words: ['dataset', 'import'], says: /Name the file/ },
  {
    name: 'an unknown format',
    words: ['dataset', 'import', 'x', '--from', 'csv'],
    says: /--from takes one of tracejury, deepeval, agentevals, adk, dokimos, langsmith, braintrust, phoenix/,
  },
  { name: 'a file that does not exist', words: ['dataset', 'import', 'nowhere.json', '--from', 'adk'], says: /there is no such file/ },
]) {
  test(`dataset: ${name} is bad usage`, async () => {
    const { code, err } = await run(...words);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  });
}

for (const ending of ['yaml', 'json', 'jsonl']) {
  test(`dataset import: test cases become a dataset in ${ending} and runs, which eval scores`, async () => {
    const given = [
      {
        name: 'good',
        input: 'Weather?',
        actual_output: 'Sunny.',
        tools_called: [{ name: 'weather', input_parameters: { city: 'Rome', id: 1 }, output: 'sunny' }],
        expected_tools: [{ name: 'weather' }],
      },
      { name: 'bad', input: 'News?', actual_output: 'None.', tools_called: [], expected_tools: [{ name: 'news' }] },
    ];
    const [output, runs] = [join(folder, `set.${ending}`), join(folder, `runs.${ending}`)];
    const { code, out, err } = await run(
      'dataset',
      'import',
      file('cases.json', given),
      '--from',
      'deepeval',
      '--output',
      output,
      '--runs',
      runs,
    );
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: '2 examples, 2 recorded runs' });
    const text = readFileSync(output, 'utf8');
    expect(ending === 'jsonl' ? lines(text) : parse(text)).toEqual([
      { id: 'good', input: 'Weather?', expect: { tool_calls: [{ name: 'weather' }] } },
      { id: 'bad', input: 'News?', expect: { tool_calls: [{ name: 'news' }] } },
    ]);
    const config = file('config.yaml', 'evaluators: [ tool_correctness ]');
    const scored = await run('eval', runs, '-c', config, '--dataset', output, '--format', 'json');
    expect(scored.code).toBe(1);
    expect(scored.out).toMatch(/"good"[\s\S]*"bad"/);
    expect((await run('eval', runs, '-c', config, '--dataset', output, '--fail-under', 'tool_correctness=0.5')).code).toBe(0);
  });
}

test('dataset import: long whole numbers and names like __proto__ stay unchanged', async () => {
  const { out } = await run(
    'dataset',
    'import',
    file('odd.json', '[{"input":"x","expected_tools":[{"name":"__proto__","input_parameters":{"__proto__":1234567890123456789}}]}]'),
    '--from',
    'deepeval',
  );
  expect(out).toBe('{"id":"1","input":"x","expect":{"tool_calls":[{"name":"__proto__","arguments":{"__proto__":1234567890123456789}}]}}');
});
