// Two JSON schemas compared, as somebody sees them who sends (`request`) or who reads (`answer`).

const TYPES = "#/components/schemas/";

export class Comparison {
  #before;
  #after;
  #roots;
  #seen = new Set();

  constructor(before, after, roots = {}, found = []) {
    this.#before = before;
    this.#after = after;
    this.#roots = roots;
    this.found = found;
  }

  /** The same list of findings, for schemas that refer into themselves. */
  within(before, after) {
    return new Comparison(this.#before, this.#after, { before, after }, this.found);
  }

  breaks(what) {
    this.#note(true, what);
  }

  adds(what) {
    this.#note(false, what);
  }

  #note(breaking, what) {
    if (!this.found.some((one) => one.what === what)) this.found.push({ breaking, what });
  }

  compare(before, after, side, at) {
    // Named types are compared once, under their own name.
    if (before.$ref && before.$ref === after.$ref && before.$ref.startsWith(TYPES)) return;
    let [olds, news] = [this.#choices(before, "before"), this.#choices(after, "after")];
    const matched = [];
    for (const old of [...olds]) {
      const twin = news.find((one) => one.key === old.key);
      if (!twin) continue;
      matched.push([old, twin]);
      olds = olds.filter((one) => one !== old);
      news = news.filter((one) => one !== twin);
    }
    const [lost, gained] = [withoutNull(olds), withoutNull(news)];
    if (lost.length === 1 && gained.length === 1) matched.push([lost[0], gained[0]]);
    else this.#compareChoices(lost, gained, matched, side, at);
    if (olds.some(isNull)) this.#narrowed(side, `${at}: null is no longer allowed`, `${at}: never null any more`);
    if (news.some(isNull)) this.#widened(side, `${at}: may be null now`, `${at}: null is allowed now`);
    for (const [old, now] of matched) {
      // The same type again, also under several names: then its own comparison reports the change.
      if (old.ref && old.ref === now.ref && old.ref.startsWith(TYPES)) continue;
      if (old.ref && now.ref && !this.#isFirst(`${old.ref} ${now.ref} ${side}`)) continue;
      this.#compareOne(old.schema, now.schema, side, at);
    }
  }

  /** Types may hold themselves. */
  #isFirst(pair) {
    const isFirst = !this.#seen.has(pair);
    this.#seen.add(pair);
    return isFirst;
  }

  #compareChoices(lost, gained, matched, side, at) {
    for (const one of lost) this.breaks(`${at}: ${one.key} is no longer among the choices`);
    const kinds = [...matched.map(([old]) => old), ...lost].filter((one) => !isNull(one));
    for (const one of gained) {
      const what = `${at}: ${one.key} is a new choice`;
      // Readers of a tagged choice look at the tag, as they do at a word of a list.
      if (side === "request" || (isTagged(one) && kinds.every(isTagged))) this.adds(what);
      else this.breaks(what);
    }
  }

  #compareOne(before, after, side, at) {
    if (isAny(before) && isAny(after)) return;
    if (isAny(before))
      return this.#narrowed(side, `${at}: was anything and is ${name(after)} now`, `${at}: is ${name(after)} now`);
    if (isAny(after))
      return this.#widened(
        side,
        `${at}: was ${name(before)} and may be anything now`,
        `${at}: anything is allowed now`,
      );
    if (before.type !== after.type) return this.breaks(`${at}: was ${name(before)} and is ${name(after)} now`);
    if (before.const !== undefined && after.const !== undefined && before.const !== after.const) {
      return this.breaks(`${at}: was ${before.const} and is ${after.const} now`);
    }
    this.#compareWords(before, after, side, at);
    if (before.format !== after.format) {
      const what = `${at}: was ${name(before)} and is ${name(after)} now`;
      if (before.format === undefined) this.#narrowed(side, what, what);
      else if (after.format === undefined) this.#widened(side, what, what);
      else this.breaks(what);
    }
    if (before.type === "array") this.compare(before.items ?? {}, after.items ?? {}, side, `${at}[]`);
    if (before.type === "object") this.#compareFields(before, after, side, at);
  }

  #compareWords(before, after, side, at) {
    const [olds, news] = [words(before), words(after)];
    if (!olds && !news) return;
    if (!olds)
      return this.#narrowed(side, `${at}: only ${news.join(", ")} now`, `${at}: always one of ${news.join(", ")} now`);
    if (!news) return this.#widened(side, `${at}: may be any text now`, `${at}: any text is allowed now`);
    for (const word of olds.filter((word) => !news.includes(word)))
      this.breaks(`${at}: '${word}' is no longer a value`);
    for (const word of news.filter((word) => !olds.includes(word))) this.adds(`${at}: '${word}' is a new value`);
  }

  #compareFields(before, after, side, at) {
    const [olds, news] = [this.#fields(before, "before"), this.#fields(after, "after")];
    for (const [field, old] of olds.fields) {
      // What a base brings is compared with the base.
      if (old.base && news.bases.has(old.base)) continue;
      const now = news.fields.get(field);
      const path = `${at}.${field}`;
      if (!now) {
        this.breaks(`${path}: gone`);
        continue;
      }
      if (now.required && !old.required) this.#narrowed(side, `${path}: required now`, `${path}: always there now`);
      if (!now.required && old.required) this.#widened(side, `${path}: may be missing now`, `${path}: optional now`);
      this.compare(old.schema, now.schema, side, path);
    }
    for (const [field, now] of news.fields) {
      if (olds.fields.has(field) || (now.base && olds.bases.has(now.base))) continue;
      if (side === "request" && now.required) this.breaks(`${at}.${field}: a new field that is required`);
      else this.adds(`${at}.${field}: a new field`);
    }
    if (before.additionalProperties || after.additionalProperties) {
      this.compare(before.additionalProperties || {}, after.additionalProperties || {}, side, `${at}.*`);
    }
  }

  #narrowed(side, forSenders, forReaders) {
    if (side === "request") this.breaks(forSenders);
    else this.adds(forReaders);
  }

  #widened(side, forReaders, forSenders) {
    if (side === "answer") this.breaks(forReaders);
    else this.adds(forSenders);
  }

  #resolve(ref, version) {
    if (ref.startsWith(TYPES))
      return (version === "before" ? this.#before : this.#after)[ref.slice(TYPES.length)] ?? {};
    const steps = ref.split("/").slice(1);
    return steps.reduce((value, step) => value?.[step], this.#roots[version]) ?? {};
  }

  /** A schema as the list of what it allows. */
  #choices(schema, version, ref) {
    if (schema.$ref) return this.#choices(this.#resolve(schema.$ref, version), version, schema.$ref);
    const several =
      schema.anyOf ?? schema.oneOf ?? (Array.isArray(schema.type) && schema.type.map((type) => ({ ...schema, type })));
    if (several) return several.flatMap((one) => this.#choices(one, version));
    const whole = schema.allOf ? { ...schema, type: "object" } : schema;
    const tagged = this.#tag(whole, version);
    return [{ key: tagged ?? ref?.split("/").at(-1) ?? name(whole), ref, schema: whole, tagged: tagged !== undefined }];
  }

  /** The fixed word that distinguishes a choice from the others. */
  #tag(schema, version) {
    if (schema.type !== "object") return undefined;
    for (const [field, { schema: inner }] of this.#fields(schema, version).fields) {
      const found = inner.$ref ? this.#resolve(inner.$ref, version) : inner;
      if (found.const !== undefined) return `${field} '${found.const}'`;
      if (found.enum && (field === "type" || field === "status")) return `${field} of ${inner.$ref ?? "a list"}`;
    }
    return undefined;
  }

  #fields(schema, version) {
    const fields = new Map();
    const bases = new Set();
    for (const part of schema.allOf ?? [schema]) {
      if (part.$ref) {
        bases.add(part.$ref);
        const inner = this.#fields(this.#resolve(part.$ref, version), version);
        for (const [field, one] of inner.fields) fields.set(field, { ...one, base: part.$ref });
      }
      for (const [field, inner] of Object.entries(part.properties ?? {})) {
        const required = (part.required ?? []).includes(field) || (fields.get(field)?.required ?? false);
        fields.set(field, { schema: inner, required });
      }
    }
    return { fields, bases };
  }
}

const isNull = (one) => one.schema.type === "null";
const isTagged = (one) => one.tagged;
const withoutNull = (list) => list.filter((one) => !isNull(one));
const words = (schema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
const isAny = (schema) =>
  schema === true || (schema.type === undefined && schema.enum === undefined && schema.const === undefined);
const name = (schema) => schema.format ?? schema.type ?? "anything";
