/** Texts with parameters, such as `{name}`, checked by the compiler: a text is only filled with all of its parameters. */

/** Names of the parameters of a text. */
type ParamName<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** The parameters of a text as an argument, which a text without parameters does not have. */
export type Params<Text extends string, Value> = [ParamName<Text>] extends [never]
  ? []
  : [Readonly<Record<ParamName<Text>, Value>>];
