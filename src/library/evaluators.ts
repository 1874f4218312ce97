/**
 * `tracejury/evaluators`: a factory for every evaluator, and `evaluate`, for unit tests and programs. Calls are marked as pure, so that a
 * bundler keeps only used evaluators.
 */
import {
  analysisClarity as analysisClarityMember,
  answerRelevance as answerRelevanceMember,
  codeReadability as codeReadabilityMember,
  hallucination as hallucinationMember,
  qaCorrectness as qaCorrectnessMember,
  relevance as relevanceMember,
  summarization as summarizationMember,
  toxicity as toxicityMember,
} from '../../evaluators/response-judges.ts';
import {
  argumentCorrectness as argumentCorrectnessMember,
  parameterExtraction as parameterExtractionMember,
  router as routerMember,
  toolSelection as toolSelectionMember,
} from '../../evaluators/tool-call-judges.ts';
import {
  argumentProvenance as argumentProvenanceMember,
  toolArgumentHallucination as toolArgumentHallucinationMember,
} from '../../evaluators/argument-sources.ts';
import { codeParseable as codeParseableMember } from '../../evaluators/code-parseable.ts';
import {
  contains as containsMember,
  keywords as keywordsMember,
  outputContains as outputContainsMember,
  regexMatch as regexMatchMember,
} from '../../evaluators/text-search.ts';
import {
  cosineSimilarity as cosineSimilarityMember,
  outputRelevanceBySimilarity as outputRelevanceBySimilarityMember,
  outputSimilarity as outputSimilarityMember,
} from '../../evaluators/vector-similarity.ts';
import {
  cost as costMember,
  latency as latencyMember,
  stepCount as stepCountMember,
  tokenUsage as tokenUsageMember,
} from '../../evaluators/budgets.ts';
import { customJudge as customJudgeMember } from '../../evaluators/custom-judge.ts';
import {
  directMatch as directMatchMember,
  exactMatch as exactMatchMember,
  outputEquals as outputEqualsMember,
} from '../../evaluators/output-equality.ts';
import { entityCorrectness as entityCorrectnessMember } from '../../evaluators/entity-correctness.ts';
import { expectedTools as expectedToolsMember } from '../../evaluators/expected-tools.ts';
import { finalResponsePresent as finalResponsePresentMember } from '../../evaluators/final-response-present.ts';
import {
  goalReached as goalReachedMember,
  stepEfficiency as stepEfficiencyMember,
  trajectoryQuality as trajectoryQualityMember,
} from '../../evaluators/run-judges.ts';
import { http as httpMember } from '../../evaluators/http.ts';
import { jsonParseable as jsonParseableMember } from '../../evaluators/json-parseable.ts';
import { jsonPath as jsonPathMember } from '../../evaluators/json-path.ts';
import { jsonSimilarity as jsonSimilarityMember } from '../../evaluators/json-similarity.ts';
import { loopDetection as loopDetectionMember, toolEfficiency as toolEfficiencyMember } from '../../evaluators/repeated-calls.ts';
import { messageOrder as messageOrderMember } from '../../evaluators/message-order.ts';
import { novelty as noveltyMember } from '../../evaluators/novelty.ts';
import { planAdherence as planAdherenceMember, planQuality as planQualityMember } from '../../evaluators/plan-judges.ts';
import { processConformance as processConformanceMember } from '../../evaluators/process-conformance.ts';
import { promptInjectionInToolResult as promptInjectionInToolResultMember } from '../../evaluators/prompt-injection-in-tool-result.ts';
import { runError as runErrorMember } from '../../evaluators/run-error.ts';
import { taskCompletion as taskCompletionMember } from '../../evaluators/task-completion.ts';
import { toolCallArgs as toolCallArgsMember } from '../../evaluators/tool-call-args.ts';
import { toolCallCount as toolCallCountMember, toolCalled as toolCalledMember } from '../../evaluators/tool-counts.ts';
import { toolCallOrder as toolCallOrderMember } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput as toolCallOutputMember } from '../../evaluators/tool-call-output.ts';
import { toolCallValidity as toolCallValidityMember } from '../../evaluators/tool-call-validity.ts';
import { toolCorrectness as toolCorrectnessMember } from '../../evaluators/tool-correctness.ts';
import {
  toolDescriptionReliability as toolDescriptionReliabilityMember,
  toolNameReliability as toolNameReliabilityMember,
} from '../../evaluators/definition-reliability.ts';
import { toolError as toolErrorMember, toolRecovery as toolRecoveryMember } from '../../evaluators/tool-failures.ts';
import { toolPermission as toolPermissionMember } from '../../evaluators/tool-permission.ts';
import { toolTrajectory as toolTrajectoryMember } from '../../evaluators/tool-trajectory.ts';
import { trajectoryMatch as trajectoryMatchMember } from '../../evaluators/trajectory-match.ts';
import { factory } from './factory.ts';

export const analysisClarity = /* @__PURE__ */ factory(analysisClarityMember);
export const answerRelevance = /* @__PURE__ */ factory(answerRelevanceMember);
export const argumentCorrectness = /* @__PURE__ */ factory(argumentCorrectnessMember);
export const argumentProvenance = /* @__PURE__ */ factory(argumentProvenanceMember);
export const codeParseable = /* @__PURE__ */ factory(codeParseableMember);
export const codeReadability = /* @__PURE__ */ factory(codeReadabilityMember);
export const contains = /* @__PURE__ */ factory(containsMember);
export const cosineSimilarity = /* @__PURE__ */ factory(cosineSimilarityMember);
export const cost = /* @__PURE__ */ factory(costMember);
export const customJudge = /* @__PURE__ */ factory(customJudgeMember);
export const directMatch = /* @__PURE__ */ factory(directMatchMember);
export const entityCorrectness = /* @__PURE__ */ factory(entityCorrectnessMember);
export const exactMatch = /* @__PURE__ */ factory(exactMatchMember);
export const expectedTools = /* @__PURE__ */ factory(expectedToolsMember);
export const finalResponsePresent = /* @__PURE__ */ factory(finalResponsePresentMember);
export const goalReached = /* @__PURE__ */ factory(goalReachedMember);
export const hallucination = /* @__PURE__ */ factory(hallucinationMember);
export const http = /* @__PURE__ */ factory(httpMember);
export const jsonParseable = /* @__PURE__ */ factory(jsonParseableMember);
export const jsonPath = /* @__PURE__ */ factory(jsonPathMember);
export const jsonSimilarity = /* @__PURE__ */ factory(jsonSimilarityMember);
export const keywords = /* @__PURE__ */ factory(keywordsMember);
export const latency = /* @__PURE__ */ factory(latencyMember);
export const loopDetection = /* @__PURE__ */ factory(loopDetectionMember);
export const messageOrder = /* @__PURE__ */ factory(messageOrderMember);
export const novelty = /* @__PURE__ */ factory(noveltyMember);
export const outputContains = /* @__PURE__ */ factory(outputContainsMember);
export const outputEquals = /* @__PURE__ */ factory(outputEqualsMember);
export const outputRelevanceBySimilarity = /* @__PURE__ */ factory(outputRelevanceBySimilarityMember);
export const outputSimilarity = /* @__PURE__ */ factory(outputSimilarityMember);
export const parameterExtraction = /* @__PURE__ */ factory(parameterExtractionMember);
export const planAdherence = /* @__PURE__ */ factory(planAdherenceMember);
export const planQuality = /* @__PURE__ */ factory(planQualityMember);
export const processConformance = /* @__PURE__ */ factory(processConformanceMember);
export const promptInjectionInToolResult = /* @__PURE__ */ factory(promptInjectionInToolResultMember);
export const qaCorrectness = /* @__PURE__ */ factory(qaCorrectnessMember);
export const regexMatch = /* @__PURE__ */ factory(regexMatchMember);
export const relevance = /* @__PURE__ */ factory(relevanceMember);
export const router = /* @__PURE__ */ factory(routerMember);
export const runError = /* @__PURE__ */ factory(runErrorMember);
export const stepCount = /* @__PURE__ */ factory(stepCountMember);
export const stepEfficiency = /* @__PURE__ */ factory(stepEfficiencyMember);
export const summarization = /* @__PURE__ */ factory(summarizationMember);
export const taskCompletion = /* @__PURE__ */ factory(taskCompletionMember);
export const tokenUsage = /* @__PURE__ */ factory(tokenUsageMember);
export const toolArgumentHallucination = /* @__PURE__ */ factory(toolArgumentHallucinationMember);
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
export const toolPermission = /* @__PURE__ */ factory(toolPermissionMember);
export const toolRecovery = /* @__PURE__ */ factory(toolRecoveryMember);
export const toolSelection = /* @__PURE__ */ factory(toolSelectionMember);
export const toolTrajectory = /* @__PURE__ */ factory(toolTrajectoryMember);
export const toxicity = /* @__PURE__ */ factory(toxicityMember);
export const trajectoryMatch = /* @__PURE__ */ factory(trajectoryMatchMember);
export const trajectoryQuality = /* @__PURE__ */ factory(trajectoryQualityMember);

export { factory };
export { evaluate, type EvaluateWith, type Expected, type GivenExpectation, type UsableEvaluator, type UsableJudge } from './evaluate.ts';
export { evaluateTurns, type EvaluateTurnsWith, type ExpectedByTurn, type NamedTurnVerdicts } from './evaluate.ts';
export type { EvaluatorSetting, Factory, Given } from './factory.ts';
export { convergence, type ConvergenceOptions, type GroupOutcome, type GroupRun } from '../../evaluators/evidence/convergence.ts';
export { groupRun, type GroupRunOptions } from '../../evaluators/evidence/convergence.ts';
export { evaluationContext } from '../../evaluators/configuration/context.ts';
export { listPrices, listPricesDate } from '../../evaluators/pricing/list-prices.ts';
export type { Price, PriceTable } from '../../evaluators/pricing/prices.ts';
export type { ConfiguredEvaluator, ConfiguredHttp, ConfiguredJudge, ConfiguredRule } from '../../evaluators/configuration/configured.ts';
export type {
  Answer,
  Asking,
  EmbeddingRequest,
  EvaluationContext,
  EvaluatorRequest,
  HttpCall,
  JudgeEvaluator,
  Question,
  RuleEvaluator,
  Subject,
} from '../../evaluators/evaluator.ts';
export type { ErrorPredicate } from '../../evaluators/tool-failures.ts';
export type { ArgumentMatcher } from '../../evaluators/matching/arguments.ts';
export type { Expectation, ExpectedToolCall, ExpectedToolOutput } from '../model/expectation.ts';
export type { Outcome, PartVerdict, SkipReason, Verdict } from '../model/verdict.ts';
