//! What differs between languages and is data for the linker: families, built-in names, names too common to guess by.

use rustc_hash::FxHashSet;

use crate::link::project::names::{Strings, Sym};

/// Languages that can refer to each other's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Family {
    Python,
    JavaScript,
    Go,
    Rust,
    Java,
    CSharp,
    C,
    Ruby,
    Php,
    Document,
    Other,
}

/// How many families there are.
pub const FAMILIES: usize = 11;

impl Family {
    pub fn of(language: &str) -> Family {
        match language {
            "python" => Family::Python,
            "javascript" | "jsx" | "typescript" | "tsx" => Family::JavaScript,
            "go" => Family::Go,
            "rust" => Family::Rust,
            "java" | "kotlin" => Family::Java,
            "csharp" | "c_sharp" | "c-sharp" => Family::CSharp,
            "c" | "cpp" => Family::C,
            "ruby" => Family::Ruby,
            "php" => Family::Php,
            "markdown" => Family::Document,
            _ => Family::Other,
        }
    }

    /// A bare name in a method may be a member of its class.
    pub fn has_implicit_this(self) -> bool {
        matches!(self, Family::Java | Family::CSharp | Family::C | Family::Ruby)
    }

    /// A bare name that no scope knows may be a global of another file.
    pub fn has_global_functions(self) -> bool {
        matches!(self, Family::C | Family::Ruby | Family::Php)
    }

    /// A field and a method of one class may share a name.
    pub fn has_fields_beside_methods(self) -> bool {
        matches!(self, Family::Rust | Family::Java | Family::CSharp | Family::Php)
    }

    /// A name that is called is never a variable.
    pub fn calls_only_methods(self) -> bool {
        self == Family::Java
    }

    /// Functions of one scope may share a name and differ in their parameters.
    pub fn has_overloads(self) -> bool {
        matches!(self, Family::Java | Family::CSharp | Family::C)
    }

    /// What a class inherits from outside the project has members of its own (a derived trait of Rust has none to call by
    /// an unknown name).
    pub fn inherits_unknown_members(self) -> bool {
        self != Family::Rust
    }

    /// Name of the constructor; `None` when it is named like its class.
    pub fn constructor_name(self) -> Option<&'static str> {
        match self {
            Family::Python => Some("__init__"),
            Family::JavaScript => Some("constructor"),
            Family::Php => Some("__construct"),
            Family::Ruby => Some("initialize"),
            _ => None,
        }
    }

    fn builtins(self) -> &'static str {
        match self {
            Family::Python => PYTHON_BUILTINS,
            Family::JavaScript => JAVASCRIPT_BUILTINS,
            Family::Go => GO_BUILTINS,
            Family::Rust => RUST_BUILTINS,
            Family::Java => JAVA_BUILTINS,
            Family::CSharp => CSHARP_BUILTINS,
            Family::C => C_BUILTINS,
            Family::Ruby => RUBY_BUILTINS,
            Family::Php => PHP_BUILTINS,
            Family::Document | Family::Other => "",
        }
    }
}

/// The tables below as numbers of one linker's strings.
pub struct Rules {
    builtins: Vec<FxHashSet<Sym>>,
    common_methods: FxHashSet<Sym>,
    /// Built-in functions whose result may be anything.
    pub open_builtins: FxHashSet<Sym>,
    /// `Optional[T]`, `Box<T>`: stand for their arguments.
    pub wrappers: FxHashSet<Sym>,
    /// `list[T]`, `Vec<T>`: hold their last argument.
    pub sequences: FxHashSet<Sym>,
    /// `dict[K, V]`, `Map<K, V>`: map to their last argument.
    pub mappings: FxHashSet<Sym>,
    /// `type[T]`: stand for the class itself.
    pub class_objects: FxHashSet<Sym>,
    /// Methods of containers that give an element, or the elements.
    pub element_getters: FxHashSet<Sym>,
    pub element_views: FxHashSet<Sym>,
    /// `Self` and the like in a type position.
    pub self_types: FxHashSet<Sym>,
}

impl Rules {
    pub fn new(strings: &Strings) -> Rules {
        let words = |text: &str| text.split_whitespace().map(|word| strings.intern(word)).collect::<FxHashSet<Sym>>();
        const ALL: [Family; FAMILIES] = [
            Family::Python,
            Family::JavaScript,
            Family::Go,
            Family::Rust,
            Family::Java,
            Family::CSharp,
            Family::C,
            Family::Ruby,
            Family::Php,
            Family::Document,
            Family::Other,
        ];
        Rules {
            builtins: ALL.iter().map(|family| words(family.builtins())).collect(),
            common_methods: words(COMMON_METHODS).union(&words(LIBRARY_METHODS)).copied().collect(),
            open_builtins: words("getattr next max min vars eval object __import__ globals locals sum iter"),
            wrappers: words(
                "Optional Union Annotated Final ClassVar Required NotRequired ReadOnly InitVar Awaitable Coroutine \
                 Promise Partial Readonly NonNullable Box Rc Arc Ref RefMut Option Result Nullable Task ValueTask",
            ),
            sequences: words(
                "list List Sequence MutableSequence Iterable Iterator Collection set Set FrozenSet frozenset tuple Tuple \
                 deque Deque AsyncIterable AsyncIterator Generator AbstractSet Array ReadonlyArray Vec VecDeque HashSet \
                 BTreeSet ArrayList LinkedList IEnumerable IList ICollection IReadOnlyList Queue Stack vector",
            ),
            mappings: words(
                "dict Dict Mapping MutableMapping DefaultDict defaultdict OrderedDict Map Record HashMap BTreeMap \
                 Dictionary IDictionary TreeMap WeakMap",
            ),
            class_objects: words("type Type Class"),
            element_getters: words("pop get popleft first last at find shift unwrap expect setdefault remove"),
            element_views: words("values copy iter filter slice reverse reversed sorted into_iter iter_mut"),
            self_types: words("Self self static this"),
        }
    }

    pub fn is_builtin(&self, family: Family, name: Sym) -> bool {
        self.builtins[family as usize].contains(&name)
    }

    /// Names that say nothing about who is called.
    pub fn is_common_method(&self, name: Sym) -> bool {
        self.common_methods.contains(&name)
    }
}

const PYTHON_BUILTINS: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod \
    compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr \
    globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max memoryview min next \
    object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str sum super \
    tuple type vars zip __import__ __build_class__ __name__ __file__ __doc__ __debug__ __spec__ __path__ __package__ __class__ \
    NotImplemented Ellipsis BaseException BaseExceptionGroup Exception ExceptionGroup \
    GeneratorExit KeyboardInterrupt SystemExit ArithmeticError AssertionError AttributeError BlockingIOError BrokenPipeError \
    BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError \
    ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError FileExistsError FileNotFoundError \
    FloatingPointError FutureWarning IOError ImportError ImportWarning IndentationError IndexError InterruptedError \
    IsADirectoryError KeyError LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError \
    OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError RecursionError \
    ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning \
    SystemError TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError \
    UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError None True False";

const JAVASCRIPT_BUILTINS: &str = "Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Function Infinity Intl JSON \
    Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError \
    URIError URL URLSearchParams WeakMap WeakRef WeakSet Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array \
    Int32Array Uint32Array Float32Array Float64Array console decodeURI decodeURIComponent encodeURI encodeURIComponent escape \
    eval fetch globalThis isFinite isNaN parseFloat parseInt queueMicrotask setImmediate setInterval setTimeout clearImmediate \
    clearInterval clearTimeout structuredClone undefined unescape window document process Buffer require module exports \
    __dirname __filename navigator location localStorage sessionStorage performance requestAnimationFrame \
    cancelAnimationFrame alert confirm prompt Event CustomEvent EventTarget AbortController AbortSignal Headers Request \
    Response FormData Blob File FileReader TextEncoder TextDecoder WebSocket Worker XMLHttpRequest HTMLElement Element Node \
    Document Window Partial Required Readonly Record Pick Omit Exclude Extract NonNullable Parameters ReturnType \
    InstanceType Awaited Iterable Iterator AsyncIterable AsyncIterator Generator ReadonlyArray PromiseLike ArrayLike any \
    unknown never void string number boolean object symbol bigint";

const GO_BUILTINS: &str = "append cap clear close complex copy delete imag len make max min new panic print println real \
    recover any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint \
    uint8 uint16 uint32 uint64 uintptr true false nil iota _";

const RUST_BUILTINS: &str = "Some None Ok Err Option Result Vec String Box Rc Arc str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 \
    i128 isize f32 f64 bool char drop println print eprintln eprint format panic assert assert_eq assert_ne debug_assert \
    debug_assert_eq vec write writeln todo unimplemented unreachable matches include_str include_bytes env concat \
    stringify line file column cfg compile_error dbg Iterator IntoIterator Into From TryFrom TryInto AsRef AsMut Default Clone \
    Copy Send Sync Sized Drop Fn FnMut FnOnce ToString ToOwned PartialEq Eq PartialOrd Ord Debug Hash DoubleEndedIterator \
    ExactSizeIterator Extend Unpin derive test inline allow cfg_attr must_use";

const JAVA_BUILTINS: &str = "Object String Integer Long Short Byte Character Boolean Double Float Number Math System Thread \
    Runnable Throwable Exception RuntimeException Error IllegalArgumentException IllegalStateException \
    NullPointerException UnsupportedOperationException IndexOutOfBoundsException ArithmeticException ClassCastException \
    NumberFormatException InterruptedException CloneNotSupportedException ClassNotFoundException StringBuilder StringBuffer \
    CharSequence Iterable Comparable Cloneable AutoCloseable Class ClassLoader Enum Record Void Process ProcessBuilder Runtime \
    SecurityException StackTraceElement ThreadLocal Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs int \
    long short byte char boolean double float void var";

const CSHARP_BUILTINS: &str = "string int long short byte sbyte uint ulong ushort char bool double float decimal object void \
    dynamic var nameof typeof sizeof default nint nuint";

const C_BUILTINS: &str = "void char short int long float double signed unsigned bool _Bool size_t ssize_t ptrdiff_t int8_t \
    int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t wchar_t auto sizeof alignof decltype typeid \
    static_cast dynamic_cast const_cast reinterpret_cast NULL nullptr true false FILE va_list printf fprintf sprintf snprintf \
    vsnprintf scanf sscanf malloc calloc realloc free memcpy memmove memset memcmp strlen strcmp strncmp strcpy strncpy strcat \
    strchr strrchr strstr strdup strtol strtoul strtod atoi atof abort exit assert fopen fclose fread fwrite fseek ftell \
    fgets fputs fputc puts putchar getenv qsort bsearch va_start va_end va_arg va_copy isdigit isalpha isspace toupper tolower \
    offsetof errno std";

const RUBY_BUILTINS: &str = "puts print p pp require require_relative raise attr_accessor attr_reader attr_writer include \
    extend prepend lambda proc loop format sprintf printf rand sleep catch throw gets freeze private public protected \
    module_function private_constant define_method alias_method instance_variable_get instance_variable_set block_given? \
    binding caller at_exit autoload fail Array Hash String Symbol Integer Float Object Class Module Kernel Comparable \
    Enumerable Struct Proc Range Regexp Time Exception StandardError ArgumentError RuntimeError TypeError NameError \
    NoMethodError NotImplementedError KeyError IndexError IOError Math File Dir IO ENV Process Thread Mutex Random Rational \
    Complex BasicObject NilClass TrueClass FalseClass Numeric Set Encoding GC ObjectSpace Signal Marshal Method Data \
    private_class_method public_class_method private_method_defined? respond_to? send is_a? nil? tap then dup clone \
    bytesize gsub gsub! sub sub! strip chomp downcase upcase start_with? end_with? match? scan frozen? instance_of? kind_of? \
    public_send define_singleton_method instance_eval class_eval module_eval instance_exec const_get const_missing inspect \
    eql? equal? to_proc arity lines chars bytes each_line each_char unpack unpack1 pack chr succ upto downto times floor ceil \
    round zero? rewind sort_by flat_map compact flatten uniq reverse each_pair key? has_key? value? member? delete_if reject! \
    select! map! find_all group_by partition each_slice each_cons min_by max_by sum tally zip take_while drop_while values_at \
    transform_values transform_keys to_proc const_defined? instance_methods method_defined? ancestors superclass";

const PHP_BUILTINS: &str = "array string int float bool mixed void null callable iterable object self static parent true false \
    isset unset empty echo print die exit count strlen str_replace str_contains str_starts_with str_ends_with substr strpos \
    stripos strrpos strtolower strtoupper ucfirst lcfirst ucwords trim ltrim rtrim explode implode join sprintf printf \
    vsprintf number_format preg_match preg_match_all preg_replace preg_replace_callback preg_split preg_quote in_array \
    array_map array_filter array_merge array_keys array_values array_key_exists array_shift array_unshift array_pop array_push \
    array_slice array_splice array_unique array_flip array_diff array_intersect array_search array_reverse array_combine \
    array_fill array_column array_walk array_reduce array_sum array_key_first array_key_last usort uasort uksort sort ksort \
    asort arsort krsort range compact extract is_array is_string is_int is_null is_numeric is_callable is_object is_bool \
    is_float is_a is_subclass_of intval floatval strval boolval json_encode json_decode serialize unserialize file_exists \
    file_get_contents file_put_contents is_file is_dir mkdir unlink fopen fclose fread fwrite feof time date microtime strtotime \
    mktime md5 sha1 hash random_int rand mt_rand min max abs round floor ceil method_exists property_exists class_exists \
    function_exists interface_exists get_class get_object_vars call_user_func call_user_func_array func_get_args define \
    defined constant dirname basename realpath var_dump var_export print_r debug_backtrace trigger_error error_log \
    spl_object_hash spl_object_id iterator_to_array str_repeat str_pad str_split nl2br htmlspecialchars urlencode rawurlencode \
    http_build_query parse_url parse_str base64_encode base64_decode bin2hex usleep sleep ini_set ini_get";

/// Methods of the standard libraries of typed languages: a receiver of unknown type is most often one of theirs.
const LIBRARY_METHODS: &str = "isArray getParameterTypes shortValue intValue longValue doubleValue floatValue byteValue \
    booleanValue charValue getKey getValue getName getType getMethod getMethods getField getFields getDeclaredFields \
    getComponentType getSuperclass getInterfaces getModifiers isInstance isAssignableFrom isPrimitive isInterface cast \
    newInstance getConstructor isAnnotationPresent getAnnotation invoke setAccessible getMessage getCause printStackTrace \
    getStackTrace addSuppressed removeIf computeIfAbsent computeIfPresent putIfAbsent putAll entrySet keySet containsAll addAll \
    removeAll retainAll toArray stream boxed mapToObj mapToInt flatMap anyMatch allMatch noneMatch findFirst findAny limit skip \
    sorted distinct parallel orElse orElseGet orElseThrow isPresent ifPresent charAt substring trim toLowerCase toUpperCase \
    startsWith endsWith replaceAll matches isBlank codePointAt getBytes equalsIgnoreCase hasNext hasPrevious nextIndex getTime \
    setTime getTimeZone getTimeInMillis getAndIncrement incrementAndGet compareAndSet shutdown awaitTermination accept \
    ranges finish is_some is_none is_ok is_err ok_or ok_or_else unwrap_or unwrap_or_else unwrap_or_default and_then or_else \
    map_err map_or as_slice as_bytes to_vec chain zip enumerate take_while skip_while fold position next_back peekable by_ref \
    copied cloned entry or_insert or_insert_with or_default contains_key extend_from_slice push_str retain drain truncate \
    is_ascii get_mut iter_mut as_deref as_mut_slice split_at split_first split_last chunks windows starts_with ends_with \
    to_ascii_lowercase to_lowercase to_uppercase trim_start trim_end parse_str wrapping_add checked_add saturating_sub \
    push_back push_front pop_back pop_front emplace_back emplace reserve resize c_str begin rbegin rend front back at insert_or_assign \
    substr find_first_of find_last_of lower_bound upper_bound load store exchange fetch_add lock_guard \
    ToList ToArray ToDictionary FirstOrDefault SingleOrDefault OrderBy OrderByDescending GroupBy SelectMany ConfigureAwait \
    GetType StartsWith EndsWith Substring IndexOf Split Trim ToLower ToUpper Format Join AddRange TryGetValue ContainsKey \
    querySelector querySelectorAll getElementById appendChild removeChild getAttribute setAttribute addClass removeClass \
    preventDefault stopPropagation subscribe unsubscribe pipe toLowerCase toUpperCase padStart padEnd charCodeAt localeCompare \
    getFullYear getMonth toISOString Errorf Printf Println Sprintf Fatalf Fatal Error Helper Unlock RLock RUnlock Done";

/// Method names of built-in types and of so many classes that a single definition in a project says nothing.
const COMMON_METHODS: &str = "get set add append items keys values pop update join split format read write close open copy \
    remove insert extend clear index count sort reverse find replace strip lower upper encode decode startswith endswith \
    setdefault popitem discard union intersection difference issubset issuperset isdisjoint lstrip rstrip rsplit splitlines \
    partition rpartition title capitalize swapcase zfill center ljust rjust isdigit isalpha isalnum isspace islower isupper \
    translate casefold expandtabs rfind rindex removeprefix removesuffix tobytes hex group groups groupdict match search \
    fullmatch findall finditer span start stop end run call apply send receive recv next iter reset flush seek tell readline \
    readlines writelines truncate fileno isatty connect disconnect commit rollback execute executemany fetchone fetchall \
    fetchmany cursor save delete create filter exclude order first last exists all any map reduce foreach forEach some every \
    push shift unshift slice splice concat includes indexOf lastIndexOf then catch finally bind toString valueOf hasOwnProperty \
    on off once emit addEventListener removeEventListener dispatchEvent log debug info warn warning error exception critical \
    load dump loads dumps parse stringify test name value type size length data result key item node path text body status \
    main init setup teardown setUp tearDown handle process render build compile validate check register unregister lock unlock \
    acquire release wait notify join cancel submit put take peek poll offer contains containsKey containsValue isEmpty equals \
    hashCode compareTo compare clone getClass unwrap expect iter_mut into_iter collect clone_from to_string to_owned as_str \
    as_ref as_mut from into try_from try_into default new drop fmt hash cmp eq partial_cmp len is_empty with_capacity \
    timestamp date time isoformat strftime strptime now today total_seconds astimezone year month day hour minute second \
    mkdir exists is_file is_dir unlink rename glob rglob resolve absolute relative_to read_text write_text read_bytes \
    write_bytes touch stat lstat chmod iterdir stem suffix parent parents shape reshape astype mean tolist flatten \
    transpose dispose Dispose ToString Equals GetHashCode Add Remove Contains Clear Count Select Where First Last Any All \
    each each_with_index inject select reject detect include? empty? to_s to_i to_a to_h to_sym push merge fetch dig";
