/**
 * `tracejury/evaluators`: every evaluator as a factory, and `evaluate`, for unit tests and programs. A new evaluator is an import and a
 * line here. Calls are marked as pure, so that a bundler keeps only the evaluators that are used.
 */
import { contains as containsMember } from '../../evaluators/contains.ts';
import { directMatch as directMatchMember } from '../../evaluators/direct-match.ts';
import { exactMatch as exactMatchMember } from '../../evaluators/exact-match.ts';
import { expectedTools as expectedToolsMember } from '../../evaluators/expected-tools.ts';
import { finalResponsePresent as finalResponsePresentMember } from '../../evaluators/final-response-present.ts';
import { jsonParseable as jsonParseableMember } from '../../evaluators/json-parseable.ts';
import { jsonPath as jsonPathMember } from '../../evaluators/json-path.ts';
import { jsonSimilarity as jsonSimilarityMember } from '../../evaluators/json-similarity.ts';
import { keywords as keywordsMember } from '../../evaluators/keywords.ts';
import { messageOrder as messageOrderMember } from '../../evaluators/message-order.ts';
import { outputContains as outputContainsMember } from '../../evaluators/output-contains.ts';
import { outputEquals as outputEqualsMember } from '../../evaluators/output-equals.ts';
import { regexMatch as regexMatchMember } from '../../evaluators/regex-match.ts';
import { taskCompletion as taskCompletionMember } from '../../evaluators/task-completion.ts';
import { toolCallArgs as toolCallArgsMember } from '../../evaluators/tool-call-args.ts';
import { toolCallCount as toolCallCountMember } from '../../evaluators/tool-call-count.ts';
import { toolCallOrder as toolCallOrderMember } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput as toolCallOutputMember } from '../../evaluators/tool-call-output.ts';
import { toolCallValidity as toolCallValidityMember } from '../../evaluators/tool-call-validity.ts';
import { toolCalled as toolCalledMember } from '../../evaluators/tool-called.ts';
import { toolCorrectness as toolCorrectnessMember } from '../../evaluators/tool-correctness.ts';
import { toolDescriptionReliability as toolDescriptionReliabilityMember } from '../../evaluators/tool-description-reliability.ts';
import { toolEfficiency as toolEfficiencyMember } from '../../evaluators/tool-efficiency.ts';
import { toolError as toolErrorMember } from '../../evaluators/tool-error.ts';
import { toolNameReliability as toolNameReliabilityMember } from '../../evaluators/tool-name-reliability.ts';
import { toolTrajectory as toolTrajectoryMember } from '../../evaluators/tool-trajectory.ts';
import { trajectoryMatch as trajectoryMatchMember } from '../../evaluators/trajectory-match.ts';
import { factory } from './factory.ts';

export const contains = /* @__PURE__ */ factory(containsMember);
export const directMatch = /* @__PURE__ */ factory(directMatchMember);
export const exactMatch = /* @__PURE__ */ factory(exactMatchMember);
export const expectedTools = /* @__PURE__ */ factory(expectedToolsMember);
export const finalResponsePresent = /* @__PURE__ */ factory(finalResponsePresentMember);
export const jsonParseable = /* @__PURE__ */ factory(jsonParseableMember);
export const jsonPath = /* @__PURE__ */ factory(jsonPathMember);
export const jsonSimilarity = /* @__PURE__ */ factory(jsonSimilarityMember);
export const keywords = /* @__PURE__ */ factory(keywordsMember);
export const messageOrder = /* @__PURE__ */ factory(messageOrderMember);
export const outputContains = /* @__PURE__ */ factory(outputContainsMember);
export const outputEquals = /* @__PURE__ */ factory(outputEqualsMember);
export const regexMatch = /* @__PURE__ */ factory(regexMatchMember);
export const taskCompletion = /* @__PURE__ */ factory(taskCompletionMember);
export const toolCallArgs = /* @__PURE__ */ factory(toolCallArgsMember);
export const toolCallCount = /* @__PURE__ */ factory(toolCallCountMember);
export const toolCallOrder = /* @__PURE__ */ factory(toolCallOrderMember);
export const toolCalled = /* @__PURE__ */ factory(toolCalledMember);
export const toolCallOutput = /* @__PURE__ */ factory(toolCallOutputMember);
export const toolCallValidity = /* @__PURE__ */ factory(toolCallValidityMember);
export const toolCorrectness = /* @__PURE__ */ factory(toolCorrectnessMember);
export const toolDescriptionReliability = /* @__PURE__ */ factory(toolDescriptionReliabilityMember);
export const toolEfficiency = /* @__PURE__ */ factory(toolEfficiencyMember);
export const toolError = /* @__PURE__ */ factory(toolErrorMember);
export const toolNameReliability = /* @__PURE__ */ factory(toolNameReliabilityMember);
export const toolTrajectory = /* @__PURE__ */ factory(toolTrajectoryMember);
export const trajectoryMatch = /* @__PURE__ */ factory(trajectoryMatchMember);

export { factory };
export { evaluate, type EvaluateWith, type Expected, type UsableEvaluator } from './evaluate.ts';
export type { EvaluatorSetting, Factory, Given } from './factory.ts';
export { evaluationContext } from '../../evaluators/context.ts';
export type { ConfiguredEvaluator, ConfiguredJudge, ConfiguredRule } from '../../evaluators/configured.ts';
export type { Answer, EvaluationContext, JudgeEvaluator, Question, RuleEvaluator, Subject } from '../../evaluators/evaluator.ts';
export type { Expectation, ExpectedToolCall, ExpectedToolOutput } from '../model/expectation.ts';
export type { Outcome, PartVerdict, SkipReason, Verdict } from '../model/verdict.ts';
