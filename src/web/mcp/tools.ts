/** The tools. Each is a client of the API, and takes the parameters of its routes. */
import { isJsonObject, type JsonObject, type JsonValue, member, objectsAt } from '../../model/json.ts';
import { present } from '../../model/present.ts';
import type { Route } from '../api/route.ts';
import { argumentsOf, asked, type Offer, type Offered, offerOf } from './api-request.ts';
import { compact } from './compact.ts';
import { runTool } from './run-tool.ts';
import type { Tool } from './tool.ts';
import { type Answer, pageEntriesMax } from './tool-answer.ts';

/** The name of changes that no token makes. */
const by = 'MCP';

const issueNames = { issue: 'id' } as const;
const datasetNames = { dataset: 'name' } as const;

/** `routes`: those of the API. */
export function toolsOf(routes: readonly Route[]): readonly Tool[] {
  const offered = offerOf(routes);
  return [
    ...failureTools(offered),
    ...versionTools(offered),
    ...experimentTools(offered),
    ...datasetTools(offered),
    ...changeTools(offered),
  ];
}

function failureTools(offered: Offer): readonly Tool[] {
  return [
    listTool('list_issues', 'Issues', 'issues', {
      from: offered('get', '/issues'),
      row: issueRow,
      description:
        'Lists classes of failures with the same cause, those with the most impact first: what goes wrong, since when and in how many runs. `since_version` asks what is new or has regressed since a version.',
    }),
    issueTool(offered),
    listTool('list_runs', 'Runs', 'runs', {
      from: offered('get', '/runs'),
      row: runRow,
      description:
        'Lists runs of agents, newest first, with their failed verdicts. Use verdict=fail for failed runs, and evaluator, agent, version, tool or text to narrow the list.',
    }),
    runTool(offered),
  ];
}

function versionTools(offered: Offer): readonly Tool[] {
  const compareVersions = offered('get', '/versions');
  return [
    listTool('list_evaluators', 'Evaluators', 'evaluators', {
      from: offered('get', '/evaluators'),
      description: 'Lists the evaluators that are on: what each checks, its threshold, and its verdicts and pass rate in a period.',
    }),
    listTool('list_versions', 'Versions', 'versions', {
      from: compareVersions,
      without: ['version', 'against'],
      description: 'Lists versions of agents, newest first, with runs, cost, durations and pass rates.',
    }),
    {
      name: 'compare_versions',
      title: 'Compare versions',
      description:
        'Compares two versions of an agent by evaluator; evaluators that got worse come first. Without `version` and `against` it compares the newest version with the one before it.',
      input: { ...argumentsOf(compareVersions), required: ['agent'] },
      async run(ask, given) {
        const { comparison = null } = await asked(ask, compareVersions, given);
        if (!isJsonObject(comparison)) return { sections: [], notes: ['The agent has fewer than two versions.'] };
        return comparisonAnswer({ ...comparison, evaluators: worstFirst(comparison, 'word') });
      },
    },
  ];
}

function experimentTools(offered: Offer): readonly Tool[] {
  const compareExperiments = offered('get', '/experiments/compare');
  return [
    listTool('list_experiments', 'Experiments', 'experiments', {
      from: offered('get', '/experiments'),
      description: 'Lists experiments, newest first: runs of an agent over a dataset, with their state.',
    }),
    objectTool('get_experiment', 'One experiment', {
      from: offered('get', '/experiments/{id}', { experiment: 'id' }),
      description: 'Shows one experiment with its rates by evaluator.',
    }),
    {
      name: 'compare_experiments',
      title: 'Compare experiments',
      description:
        'Compares two experiments on the examples that both have: by evaluator the difference with its interval, and the examples whose verdict flipped. Regressions come first.',
      input: { ...argumentsOf(compareExperiments, { without: ['format'] }), required: ['a', 'b'] },
      async run(ask, given) {
        const {
          evaluators: _evaluators,
          regressions,
          unscored_regressions,
          lost,
          warnings,
          ...others
        } = await asked(ask, compareExperiments, given);
        const evaluators = worstFirst({ evaluators: _evaluators ?? [] }, 'result');
        return comparisonAnswer({ regressions, unscored_regressions, lost, warnings, evaluators, ...others });
      },
    },
  ];
}

function datasetTools(offered: Offer): readonly Tool[] {
  return [
    listTool('list_datasets', 'Datasets', 'datasets', {
      from: offered('get', '/datasets'),
      description: 'Lists datasets with the number of their examples and drafts.',
    }),
    listTool('get_examples', 'Examples of a dataset', 'examples', {
      from: offered('get', '/datasets/{name}/examples', datasetNames),
      description: 'Lists examples of a dataset: input, expectation and origin.',
    }),
  ];
}

function changeTools(offered: Offer): readonly Tool[] {
  const changeIssue = offered('patch', '/issues/{id}', issueNames);
  const addExamples = offered('post', '/datasets/{name}/examples', datasetNames);
  const addedRun = schemaAt(bodySchemas(addExamples), 'runs', 'items', 'properties');
  return [
    decisionTool('resolve_issue', 'Resolve an issue', {
      from: changeIssue,
      members: ['version', 'next_version', 'note'],
      state: 'resolved',
      description:
        'Marks an issue as fixed: in `version`, in the next version, or for all runs from now on. A later run with the failure makes it regressed.',
    }),
    decisionTool('ignore_issue', 'Ignore an issue', {
      from: changeIssue,
      members: ['until', 'until_runs', 'note'],
      state: 'ignored',
      description: 'Marks an issue as known and quiet, until a time or until it has more runs than a number.',
    }),
    {
      name: 'add_example',
      title: 'Add an example',
      isWriting: true,
      description:
        'Adds an example to a dataset, which the first example makes. Give `trace_id` for a draft made of a stored run, or `example` for a whole example with an id, an input and an expectation.',
      input: {
        ...argumentsOf(addExamples),
        required: ['dataset'],
        properties: {
          ...argumentsOf(addExamples).properties,
          ...addedRun,
          example: { ...schemaAt(bodySchemas(addExamples), 'examples', 'items'), description: 'A whole example.' },
          ...Object.fromEntries(['tags', 'split', 'distinct', 'note'].map((name) => [name, schemaAt(bodySchemas(addExamples), name)])),
        },
      },
      async run(ask, given) {
        const { trace_id: traceId, span_id: spanId, example, tags, split, distinct, note } = given;
        const body = {
          ...(traceId === undefined ? {} : { runs: [{ trace_id: traceId, ...(spanId === undefined ? {} : { span_id: spanId }) }] }),
          ...(example === undefined ? {} : { examples: [example] }),
          ...present({ tags, split, distinct, note }),
          by,
        };
        const answer = await asked(ask, addExamples, given, body);
        return { sections: sectionsOf(answer), notes: ['`version` is the version of the dataset with the change.'] };
      },
    },
  ];
}

/** Differences of an issue that are shown: the clearest ones. */
const differencesMax = 12;

function issueTool(offered: Offer): Tool {
  const issueRoute = offered('get', '/issues/{id}', issueNames);
  const differenceRoute = offered('get', '/issues/{id}/differences', issueNames);
  return {
    name: 'get_issue',
    title: 'One issue',
    description:
      'Shows one issue: what is different about its runs (an association, such as a version or a model), its newest runs, and its runs by version. get_run shows one of the runs.',
    input: argumentsOf(issueRoute),
    async run(ask, given) {
      const { issue = null, ...others } = await asked(ask, issueRoute, given);
      const compared = await asked(ask, differenceRoute, given);
      const clear = objectsAt(compared, 'differences').filter(({ differs }) => differs === true);
      return {
        sections: [
          { name: 'issue', value: compact(issue), share: 0.3 },
          { name: 'differences', value: clear.slice(0, differencesMax), share: 0.3 },
          ...sectionsOf(others),
        ],
        notes: clear.length === 0 ? ['No property of the runs differs clearly from the other runs of the agent.'] : [],
      };
    },
  };
}

interface Listing {
  readonly from: Offered;
  readonly description: string;
  /** Parameters that the tool does not offer. */
  readonly without?: readonly string[];
  readonly row?: (row: JsonObject) => JsonObject;
}

/** Pages of the API, or of its whole answer where it has no pages. */
function listTool(name: string, title: string, list: string, { from, description, without = [], row = (same) => same }: Listing): Tool {
  const input = argumentsOf(from, { without });
  const isPaged = Object.hasOwn(input.properties, 'cursor');
  const page: JsonObject = isPaged
    ? { limit: { type: 'integer', minimum: 1, maximum: pageEntriesMax, default: pageEntriesMax, description: 'Entries of one page.' } }
    : { offset: { type: 'integer', minimum: 0, description: 'Entries to leave out.' } };
  return {
    name,
    title,
    description,
    input: { ...input, properties: { ...input.properties, ...page } },
    async run(ask, given) {
      const answer = await asked(ask, from, isPaged ? { limit: pageEntriesMax, ...given } : given);
      const offset = isPaged ? 0 : Number(member(given, 'offset') ?? 0);
      const all = objectsAt(answer, list);
      const entries = all.slice(offset, offset + pageEntriesMax);
      const { [list]: _list, next = null, comparison: _comparison, ...others } = answer;
      const hasMore = next !== null || all.length > offset + entries.length;
      const more = isPaged ? 'More: cursor=`next`, with the same filters.' : `More: offset=${offset + entries.length}.`;
      return {
        sections: [
          // The cursor is never cut.
          ...(next === null ? [] : [{ name: 'next', value: next, share: 0.1 }]),
          { name: list, value: entries.map((entry) => compact(row(entry))), isPage: true },
          ...sectionsOf(others),
        ],
        notes: hasMore ? [more] : [],
        whole: 'Narrow the list, or ask for fewer entries.',
      };
    },
  };
}

function objectTool(name: string, title: string, { from, description }: Pick<Listing, 'from' | 'description'>): Tool {
  return {
    name,
    title,
    description,
    input: argumentsOf(from),
    run: async (ask, given) => ({ sections: sectionsOf(await asked(ask, from, given)) }),
  };
}

interface IssueChange {
  readonly from: Offered;
  /** Members of the body that the tool offers. */
  readonly members: readonly string[];
  readonly state: string;
  readonly description: string;
}

function decisionTool(name: string, title: string, { from, members, state, description }: IssueChange): Tool {
  const input = argumentsOf(from);
  const offeredMembers = Object.fromEntries(members.map((key) => [key, schemaAt(bodySchemas(from), key)]));
  return {
    name,
    title,
    description,
    isWriting: true,
    input: { ...input, properties: { ...input.properties, ...offeredMembers } },
    async run(ask, given) {
      const body = { ...present(Object.fromEntries(members.map((key) => [key, member(given, key)]))), state, by };
      const { issue = null } = await asked(ask, from, given, body);
      return { sections: [{ name: 'issue', value: compact(issue) }] };
    },
  };
}

function comparisonAnswer(comparison: { readonly [name: string]: JsonValue | undefined }): Answer {
  return { sections: sectionsOf(present(comparison)) };
}

/** Without members that are null or empty. */
function sectionsOf(answer: JsonObject): Answer['sections'] {
  return Object.entries(compact(answer) as JsonObject).map(([name, value]) => ({ name, value }));
}

function worstFirst(comparison: JsonObject, word: string): readonly JsonObject[] {
  const order = ['worse', 'better'];
  const place = (one: JsonObject): number => {
    const at = order.indexOf(String(one[word]));
    return at < 0 ? order.length : at;
  };
  return objectsAt(comparison, 'evaluators').toSorted((one, other) => place(one) - place(other));
}

/** The title has the signature, and `trend` the days. */
function issueRow({ signature: _signature, days: _days, changed_at: _changedAt, ...row }: JsonObject): JsonObject {
  return row;
}

/** Verdicts that passed are a number. */
function runRow({ verdicts: _verdicts, ended_at: _endedAt, revision: _revision, ...row }: JsonObject): JsonObject {
  const verdicts = objectsAt({ verdicts: _verdicts ?? [] }, 'verdicts');
  const failed = verdicts.filter(({ passed, status }) => passed === false || status === 'failed');
  return {
    ...row,
    failed: failed.map(({ name, label, reason }) => present<JsonObject>({ name, label, reason })),
    passed: verdicts.filter(({ passed }) => passed === true).length,
  };
}

function bodySchemas({ route }: Offered): JsonObject {
  return schemaAt(route.body?.schema ?? {}, 'properties');
}

function schemaAt(schema: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((inner, key) => {
    const value = member(inner, key) ?? null;
    if (!isJsonObject(value)) throw new Error(`the API has no schema of ${key}`);
    return value;
  }, schema);
}
