// What scripts find in their global scope, and what they do not find any more. Runs once for each engine, before the script is compiled.
// `native` stays in here: scripts reach the host through the functions below alone.
// `readsMetadata`: whether the script names `@metadata`, which then has what getMetadata() gives.
(function (native, readsMetadata) {
    "use strict";
    const { apply, defineProperty } = Reflect;
    const global = globalThis;
    const documents = new Map(), origins = new Map();
    const mapGet = Map.prototype.get, mapSet = Map.prototype.set, mapClear = Map.prototype.clear;
    const isArray = Array.isArray, stringOf = String, NumberOf = Number, ErrorOf = Error;
    const DateOf = Date, dateToJson = Date.prototype.toISOString, dateToTime = Date.prototype.getTime;
    const replace = String.prototype.replace, slice = String.prototype.slice, RegExpOf = RegExp;
    const toWellFormed = String.prototype.toWellFormed;
    const ProxyOf = Proxy;
    const refuse = message => { native.refuse(message); throw new ErrorOf(message); };
    const isObject = value => typeof value === "object" && value !== null;

    // What reads null where there is nothing.
    const nothing = new ProxyOf({}, {
        get: (_, name) => (name === "length" ? 0 : null),
        has: () => false,
        set: () => { throw new TypeError("Cannot set a property of null"); },
        deleteProperty: () => true,
    });
    const callNull = () => null, callArray = () => [];
    const callNothing = new ProxyOf({}, {
        get: (_, name) => (name === "map" || name === "filter" || name === "flatMap" ? callArray : callNull),
    });
    // A name that nobody declared is null.
    Object.setPrototypeOf(global, new ProxyOf(Object.create(null), {
        get: (_, name) => (typeof name === "symbol" ? undefined : null),
        has: () => false,
        set: (_, name) => { throw new ReferenceError(`${stringOf(name)} is not defined`); },
    }));

    const add = (name, value) => defineProperty(global, name, { value, writable: false, enumerable: false, configurable: false });
    const metadataOf = (document, place) => {
        let metadata = document["@metadata"];
        if (!isObject(metadata)) metadata = {};
        const vector = place === undefined ? undefined : native.vectorOf(place);
        if (vector !== undefined) {
            metadata["@change-vector"] = vector;
            metadata["@id"] = native.idOf(place);
            metadata["@last-modified"] = native.dateOf(place);
        }
        return metadata;
    };
    const know = (document, place) => {
        apply(mapSet, documents, [document, place]);
        if (readsMetadata && native.vectorOf(place) !== undefined) document["@metadata"] = metadataOf(document, place);
    };
    const loaded = id => {
        const place = native.load(id);
        if (place === undefined) return undefined;
        const document = native.parse(tools, place);
        know(document, place);
        return document;
    };
    const load = id => {
        if (id === null || id === undefined) return null;
        if (isArray(id)) {
            const all = [];
            for (let at = 0; at < id.length; at++) all[at] = id[at] === null || id[at] === undefined ? null : loaded(stringOf(id[at])) ?? null;
            return all;
        }
        if (typeof id !== "string") refuse("load(id | ids) must be called with a single string argument or an array of them");
        return loaded(id);
    };
    add("load", load);
    add("id", function (document) {
        if (arguments.length !== 1) refuse("id(doc) must be called with a single argument");
        if (document === null || document === undefined) return null;
        if (!isObject(document)) refuse("id(doc) must be called with an object argument");
        const place = apply(mapGet, documents, [document]);
        return place === undefined ? null : native.idOf(place);
    });
    add("getMetadata", function (document) {
        if (arguments.length !== 1) refuse("getMetadata(doc) must be called with a single argument");
        if (document === null || document === undefined) return null;
        if (!isObject(document)) refuse("getMetadata(doc) must be called with an object argument");
        return metadataOf(document, apply(mapGet, documents, [document]));
    });
    // The list that the server keeps in the metadata, under the names of queries and of indexes.
    for (const name of ["attachments", "attachmentsFor"]) {
        add(name, function (document) {
            if (arguments.length !== 1) refuse(`${name}(doc) must be called with a single argument`);
            if (document === null || document === undefined) return [];
            if (!isObject(document)) refuse(`${name}(doc) must be called with an object argument`);
            const list = metadataOf(document, apply(mapGet, documents, [document]))["@attachments"];
            return isArray(list) ? list : [];
        });
    }
    add("lastModified", function (document) {
        if (arguments.length !== 1) refuse("lastModified(doc) must be called with a single argument");
        if (!isObject(document)) return null;
        const place = apply(mapGet, documents, [document]);
        return place === undefined ? null : native.timeOf(place);
    });
    add("loadPath", function (document, path) {
        if (arguments.length !== 2) refuse("loadPath(doc, path) must be called with a document and a path");
        let found = [document];
        for (let part of apply(stringOf.prototype.split, stringOf(path), ["."])) {
            const name = part.endsWith("[]") ? apply(slice, part, [0, -2]) : part, next = [];
            for (const value of found) {
                const inner = isObject(value) ? value[name] : undefined;
                if (isArray(inner)) next.push(...inner);
                else if (inner !== undefined && inner !== null) next.push(inner);
            }
            found = next;
        }
        const documents = found.map(id => (typeof id === "string" ? loaded(id) : null));
        return documents.length === 0 ? null : documents.length === 1 && !apply(stringOf.prototype.includes, path, ["[]"]) ? documents[0] : documents;
    });
    add("put", function (id, document, vector) {
        if (arguments.length < 2 || arguments.length > 3) refuse("put(id, doc, changeVector) must be called with called with 2 or 3 arguments only");
        if (id !== null && typeof id !== "string") refuse("put(id, doc, changeVector) expects the first argument to be a string or null");
        if (!isObject(document)) refuse(`put(id, doc, changeVector): Created object can't be null or undefined or not an object`);
        return native.put(tools, id === null ? "" : id, document, vector === undefined || vector === null ? undefined : stringOf(vector));
    });
    add("del", function (id, vector) {
        if (typeof id !== "string") refuse("del(id, changeVector) must be called with a string as the first argument");
        return native.del(id, vector === undefined || vector === null ? undefined : stringOf(vector));
    });
    const dueDate = new RegExpOf("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,7})?Z?$");
    const isArchived = document => isObject(document["@metadata"]) && document["@metadata"]["@archived"] === true;
    add("archived", Object.freeze({
        archiveAt: function (document, time) {
            const signature = "archiveAt(doc, utcDateTimeString)";
            if (arguments.length !== 2) refuse(`${signature} must be called with two args`);
            if (!isObject(document)) refuse(`${signature} must take document object as the first argument`);
            if (typeof time !== "string") refuse(`${signature} must take string as the second argument`);
            if (!apply(RegExpOf.prototype.test, dueDate, [time])) refuse(`${signature} : utcDateTimeString must be a date and time in UTC, such as 2030-01-31T08:00:00Z, and not '${time}'`);
            if (isArchived(document)) return null;
            if (!isObject(document["@metadata"])) document["@metadata"] = {};
            document["@metadata"]["@archive-at"] = time;
            return null;
        },
        unarchive: function (document) {
            if (arguments.length !== 1) refuse("unarchive(doc) must be called with a single argument");
            if (!isObject(document)) refuse("unarchive(doc) must take document object as the first argument");
            const place = apply(mapGet, documents, [document]);
            if (!isArchived(document) || place === undefined) return null;
            delete document["@metadata"]["@archived"];
            native.unarchive(place);
            return null;
        },
    }));
    const include = id => {
        if (typeof id === "string") native.include(id);
        else if (isArray(id)) id.forEach(one => typeof one === "string" && native.include(one));
        return null;
    };
    add("include", include);
    add("includes", Object.freeze({
        document: include,
        cmpxchg: key => {
            if (typeof key === "string") native.includeValue(key);
            else if (isArray(key)) key.forEach(one => typeof one === "string" && native.includeValue(one));
            return null;
        },
    }));
    add("cmpxchg", function (key) {
        if (arguments.length !== 1 || typeof key !== "string") refuse("cmpxchg(key) must be called with a single string argument");
        return native.valueOf(tools, key) ?? null;
    });
    add("output", value => (native.print(tools, value), null));
    add("startsWith", (text, prefix) => apply(stringOf.prototype.startsWith, stringOf(text), [stringOf(prefix)]));
    add("endsWith", (text, suffix) => apply(stringOf.prototype.endsWith, stringOf(text), [stringOf(suffix)]));
    add("regex", (text, pattern) => apply(RegExpOf.prototype.test, new RegExpOf(pattern), [stringOf(text)]));
    add("Raven_Min", (left, right) => {
        if (left === null || left === undefined || right === null || right === undefined) return null;
        return left <= right ? left : right;
    });
    add("Raven_Max", (left, right) => {
        if (left === null || left === undefined) return right === undefined ? null : right;
        if (right === null || right === undefined) return left;
        return left >= right ? left : right;
    });
    add("scalarToRawString", (document, read) => (isObject(document) ? read(document) : null));
    add("trim", value => (value === null || value === undefined ? null : apply(stringOf.prototype.trim, stringOf(value), [])));
    const two = number => (number < 10 ? `0${number}` : `${number}`);
    const span = milliseconds => {
        const sign = milliseconds < 0 ? "-" : "", all = Math.abs(milliseconds), seconds = Math.floor(all / 1000);
        const rest = Math.round((all - seconds * 1000) * 10000), days = Math.floor(seconds / 86400);
        const text = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
        return sign + (days ? `${days}.` : "") + text + (rest ? `.${stringOf(10000000 + rest).slice(1)}` : "");
    };
    add("convertJsTimeToTimeSpanString", milliseconds => span(NumberOf(milliseconds)));
    add("convertToTimeSpanString", (...parts) => {
        const [days, hours, minutes, seconds, milliseconds] =
            parts.length === 1 ? [0, 0, 0, 0, parts[0] / 10000] : parts.length === 3 ? [0, ...parts, 0] : [...parts, 0];
        return span(((NumberOf(days) * 24 + NumberOf(hours)) * 60 + NumberOf(minutes)) * 60000 + NumberOf(seconds) * 1000 + NumberOf(milliseconds));
    });
    const dateOf = value => (value instanceof DateOf ? apply(dateToTime, value, []) : DateOf.parse(stringOf(value)));
    add("compareDates", function (left, right, operation) {
        const a = dateOf(left), b = dateOf(right);
        switch (operation) {
            case undefined: case "Subtract": return a - b;
            case "GreaterThan": return a > b;
            case "GreaterThanOrEqual": return a >= b;
            case "LessThan": return a < b;
            case "LessThanOrEqual": return a <= b;
            case "Equal": return a === b;
            case "NotEqual": return a !== b;
            default: refuse("compareDates(date1, date2, operationType) : 'operationType' must be a string argument representing a valid 'ExpressionType'");
        }
    });
    const spatial = {
        distance: (latitude1, longitude1, latitude2, longitude2, units) => {
            const radians = Math.PI / 180, a = latitude1 * radians, b = latitude2 * radians;
            const haversine = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(((longitude2 - longitude1) * radians) / 2) ** 2;
            const miles = (60 * 1.1515) / radians;
            const radius = stringOf(units).toLowerCase() === "miles" ? miles : miles * 1.609344;
            return 2 * radius * Math.asin(Math.min(1, Math.sqrt(haversine)));
        },
    };
    add("spatial", Object.freeze(spatial));
    for (const name of [
        "timeseries", "crypto",
        "toStringWithFormat", "embeddings", "text", "loadAttachment", "loadAttachments",
        "timeSeriesNamesFor", "createSpatialField", "createVector", "loadVector",
    ]) {
        const missing = () => { native.missing(name); throw new ErrorOf(name); };
        // Some are called, others have members that are.
        add(name, ["crypto", "embeddings", "text"].includes(name) ? new ProxyOf({}, { get: missing }) : missing);
    }
    // The id of the document that a call about a counter names.
    const counterId = (signature, document, name) => {
        const place = isObject(document) ? apply(mapGet, documents, [document]) : undefined;
        const id = place === undefined ? document : native.documentId(place);
        if (typeof id !== "string" || id === "") refuse(`${signature}: 'doc' must be a string argument (the document id) or the actual document instance itself`);
        if (typeof name !== "string" || name === "") refuse(`${signature}: 'name' must be a non-empty string argument`);
        return id;
    };
    add("counter", function (document, name) {
        if (arguments.length !== 2) refuse("counter(doc, name) must be called with exactly 2 arguments");
        const value = native.counter(counterId("counter(doc, name)", document, name), name);
        return value === undefined ? null : value;
    });
    add("counterRaw", function (document, name) {
        if (arguments.length !== 2) refuse("counterRaw(doc, name) must be called with exactly 2 arguments");
        return native.counterRaw(counterId("counterRaw(doc, name)", document, name), name);
    });
    add("incrementCounter", function (document, name, value) {
        if (arguments.length < 2 || arguments.length > 3) refuse(`There is no overload of method 'incrementCounter' that takes ${arguments.length} arguments. Supported overloads are : 'incrementCounter(doc, name)' , 'incrementCounter(doc, name, value)'`);
        const signature = arguments.length === 2 ? "incrementCounter(doc, name)" : "incrementCounter(doc, name, value)";
        const id = counterId(signature, document, name), delta = arguments.length === 2 ? 1 : value;
        if (typeof delta !== "number" || delta !== delta) refuse(`${signature}: 'value' must be a number argument`);
        native.changeCounter(id, name, delta);
        return true;
    });
    add("deleteCounter", function (document, name) {
        if (arguments.length !== 2) refuse("deleteCounter(doc, name) must be called with exactly 2 arguments");
        native.changeCounter(counterId("deleteCounter(doc, name)", document, name), name);
        return true;
    });
    add("counterNamesFor", function (document) {
        if (arguments.length !== 1) refuse("counterNamesFor(doc) must be called with a single argument");
        const names = isObject(document) && isObject(document["@metadata"]) ? document["@metadata"]["@counters"] : undefined;
        return isArray(names) ? names : [];
    });
    add("console", Object.freeze({ log: value => native.print(tools, value) }));
    defineProperty(Object, "map", {
        value: (object, f) => {
            const all = [];
            for (const name of Object.keys(object)) all.push(f(object[name], name));
            return all;
        },
    });
    defineProperty(String.prototype, "format", {
        value: function (...values) {
            return apply(replace, this, [/\{(\d+)\}/g, (text, number) => (values[number] === undefined ? text : values[number])]);
        },
    });

    // No way from text to code, nothing that waits, nothing that holds memory outside of the objects that are counted.
    const functions = [function () {}, function* () {}, async function () {}, async function* () {}];
    for (const one of functions) {
        defineProperty(Object.getPrototypeOf(one), "constructor", { value: undefined, writable: false, configurable: false });
    }
    const noText = "String compilation has been disabled in engine options. You can configure it by modifying the configuration option: 'Patching.AllowStringCompilation'.";
    for (const name of ["eval", "Function"]) {
        delete global[name];
        add(name, function () { refuse(noText); });
    }
    for (const name of ["Promise", "Proxy", "Reflect", "queueMicrotask", "gc", "Iterator", "WeakRef", "FinalizationRegistry", "AsyncFunction"]) {
        delete global[name];
    }

    const tools = {
        nothing,
        callNothing,
        date: DateOf,
        begin: () => { apply(mapClear, documents, []); apply(mapClear, origins, []); },
        know,
        place: document => apply(mapGet, documents, [document]),
        note: (object, origin) => { apply(mapSet, origins, [object, origin]); },
        origin: object => apply(mapGet, origins, [object]),
        dateText: value => {
            const time = apply(dateToTime, value, []);
            return time !== time ? null : apply(slice, apply(dateToJson, value, []), [0, -1]) + "0000Z";
        },
        wellFormed: text => apply(toWellFormed, text, []),
    };
    return tools;
})
