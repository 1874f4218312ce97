/** The question that a judge gets about a stored run, made again from its spans by the configuration in force. No judge is asked. */
import { readDefinitions } from '../../collectors/parsing/definitions.ts';
import { collectors } from '../../collectors/index.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Question } from '../../evaluators/evaluator.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import type { Config } from '../config/config.ts';
import type { Run } from '../model/agent-trace.ts';
import { member } from '../model/json.ts';
import type { KeptSpans, StoredRun } from '../model/store/store.ts';
import { regatheredRuns } from '../pipeline/gathering/regathered-runs.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import type { JudgeQuestion, NoQuestion } from '../web/api/route.ts';
import type { RunRules } from './reloading.ts';

/** Assembling a longer trace takes too long for one request. */
const spansMax = 5_000;

interface QuestionSettings {
  readonly config: Pick<Config, 'evaluators' | 'closing' | 'tools'>;
  readonly rules: Pick<RunRules, 'dialects'>;
}

/** `name`: of the configured evaluator. */
export function judgeQuestion(
  run: StoredRun,
  kept: KeptSpans | undefined,
  name: string,
  { config, rules }: QuestionSettings,
): JudgeQuestion | NoQuestion {
  const configured = config.evaluators.find((one) => one.configured.name === name)?.configured;
  if (configured === undefined) return 'not_configured';
  if (configured.kind !== 'judge') return 'no_judge';
  if (configured.evaluator.target === 'session') return 'of_session';
  if (kept === undefined) return 'no_spans';
  if (kept.spans.length > spansMax) return 'too_large';
  const found = regatheredRuns(kept, {
    closing: config.closing,
    tools: config.tools,
    dialects: rules.dialects,
    collectors,
    telemetry: noTelemetry,
  }).get(`${run.traceId}/${run.spanId}`);
  if (found === undefined) return 'not_in_spans';
  const whole = asStored(found, run);
  const asking = configured.judge(whole.trace, expectationOf(whole), evaluationContext(), whole);
  const first = asking.next();
  if (first.done === true) return first.value.kind === 'skipped' ? 'skipped' : 'no_judge';
  asking.return({ kind: 'failed', error: 'not_asked', explanation: '', details: {} });
  return isQuestion(first.value) ? questionOf(first.value, configured.parts !== undefined || first.value.id !== 'judge') : 'no_judge';
}

/** The run with what the store knows better than its spans: other turns of its session may have given the definitions of tools. */
function asStored(run: Run, { tenant, revision, content = {} }: StoredRun): Run {
  const own = { ...run, tenant, revision };
  if (run.trace.toolDefinitions.length > 0) return own;
  return { ...own, trace: { ...run.trace, toolDefinitions: readDefinitions(member(content, 'tool_definitions')) } };
}

function expectationOf({ expected }: Run): ReturnType<typeof readExpectation>['expectation'] {
  return expected === undefined ? {} : readExpectation(expected).expectation;
}

function isQuestion(request: { readonly kind?: string }): request is Question {
  return request.kind === undefined || request.kind === 'ask';
}

function questionOf({ instruction, data, answerSchema }: Question, isFirstOfSeveral: boolean): JudgeQuestion {
  return { instruction, data: data.map(({ title, text }) => ({ title, text })), answerSchema, isFirstOfSeveral };
}
