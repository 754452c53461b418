//! The values that stages publish, as parts of a snapshot.

use crate::edge::EdgeType;
use crate::entity::{Entity, Value};
use crate::project::ancestry::{Extension, FileBases, MethodShape, Methods};
use crate::project::file_types::FileTypes;
use crate::project::flows::{FileFlows, Place};
use crate::project::names::{Sym, SymbolId};
use crate::routes::tables::{FileRouters, FileRoutes, Link, Mount, Procedure, Route, RouterKey, Service};
use crate::snapshot::codec::{Reader, Stored, Writer};
use crate::strategy::Strategy;
use crate::testing::file_support::{FileSupport, Fixture, Support};

impl Stored for Entity {
    fn write(&self, out: &mut Writer) {
        let (tag, class, sym) = match *self {
            Entity::Definition(symbol) => (0, Some(symbol), None),
            Entity::Instance(symbol) => (1, Some(symbol), None),
            Entity::Super(symbol) => (2, Some(symbol), None),
            Entity::SuperAfter { class, after } => {
                out.bytes.push(3);
                out.symbol(class);
                return out.symbol(after);
            }
            Entity::Returning(symbol) => (4, Some(symbol), None),
            Entity::Elements(symbol) => (5, Some(symbol), None),
            Entity::Mapped(symbol) => (6, Some(symbol), None),
            Entity::TypeMember(sym) => (7, None, Some(sym)),
            Entity::Package(sym) => (8, None, Some(sym)),
            Entity::Folder(sym) => (9, None, Some(sym)),
            Entity::Builtin(sym) => (10, None, Some(sym)),
            Entity::External(external) => return external_entity(out, 11, external),
            Entity::ExternalInstance(external) => return external_entity(out, 12, external),
            Entity::SelfType => (13, None, None),
            Entity::Nothing => (14, None, None),
            Entity::Opaque => (15, None, None),
            Entity::Missing => (16, None, None),
            Entity::Argument(number) => return positional(out, 17, number),
            Entity::MadeBy(number) => return positional(out, 18, number),
            Entity::ReturningMade(number) => return positional(out, 19, number),
            Entity::TypeArgument(number) => return positional(out, 20, number),
            Entity::ArgumentElements(number) => return positional(out, 21, number),
            Entity::ArgumentMapped(number) => return positional(out, 22, number),
            Entity::Table(sym) => (23, None, Some(sym)),
        };
        out.bytes.push(tag);
        class.into_iter().for_each(|symbol| out.symbol(symbol));
        sym.into_iter().for_each(|sym| out.sym(sym));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(match from.bytes(1)?[0] {
            0 => Entity::Definition(from.symbol()?),
            1 => Entity::Instance(from.symbol()?),
            2 => Entity::Super(from.symbol()?),
            3 => Entity::SuperAfter { class: from.symbol()?, after: from.symbol()? },
            4 => Entity::Returning(from.symbol()?),
            5 => Entity::Elements(from.symbol()?),
            6 => Entity::Mapped(from.symbol()?),
            7 => Entity::TypeMember(from.sym()?),
            8 => Entity::Package(from.sym()?),
            9 => Entity::Folder(from.sym()?),
            10 => Entity::Builtin(from.sym()?),
            11 => Entity::External(from.external()?),
            12 => Entity::ExternalInstance(from.external()?),
            13 => Entity::SelfType,
            14 => Entity::Nothing,
            15 => Entity::Opaque,
            16 => Entity::Missing,
            17 => Entity::Argument(position(from)?),
            18 => Entity::MadeBy(position(from)?),
            19 => Entity::ReturningMade(position(from)?),
            20 => Entity::TypeArgument(position(from)?),
            21 => Entity::ArgumentElements(position(from)?),
            22 => Entity::ArgumentMapped(position(from)?),
            23 => Entity::Table(from.sym()?),
            _ => return None,
        })
    }
}

fn external_entity(out: &mut Writer, tag: u8, external: u32) {
    out.bytes.push(tag);
    out.external(external);
}

fn positional(out: &mut Writer, tag: u8, number: u16) {
    out.bytes.push(tag);
    out.number(number.into());
}

fn position(from: &mut Reader) -> Option<u16> {
    from.number()?.try_into().ok()
}

impl Stored for Value {
    fn write(&self, out: &mut Writer) {
        let Value { entity, via, args } = self;
        entity.write(out);
        out.plain(via);
        out.sym(*args);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(Value { entity: Entity::read(from)?, via: from.plain::<Strategy>()?, args: from.sym()? })
    }
}

impl Stored for (SymbolId, Vec<Value>) {
    fn write(&self, out: &mut Writer) {
        out.symbol(self.0);
        out.list(&self.1);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some((from.symbol()?, from.list()?))
    }
}

impl Stored for FileTypes {
    fn write(&self, out: &mut Writer) {
        let FileTypes { variables, returns } = self;
        out.number(variables.len() as u32);
        for (scope, name, values) in variables {
            out.symbol(*scope);
            out.sym(*name);
            out.list(values);
        }
        out.number(returns.len() as u32);
        for (function, part, values) in returns {
            out.symbol(*function);
            out.number((*part).into());
            out.list(values);
        }
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut types = FileTypes::default();
        for _ in 0..from.number()? {
            types.variables.push((from.symbol()?, from.sym()?, from.list()?.into()));
        }
        for _ in 0..from.number()? {
            types.returns.push((from.symbol()?, position(from)?, from.list()?.into()));
        }
        Some(types)
    }
}

impl Stored for FileFlows {
    fn write(&self, out: &mut Writer) {
        let FileFlows { values } = self;
        out.number(values.len() as u32);
        for (place, values) in values {
            match *place {
                Place::Parameter(function, position) => {
                    out.bytes.push(0);
                    out.symbol(function);
                    out.number(position.into());
                }
                Place::Variable(scope, name) => {
                    out.bytes.push(1);
                    out.symbol(scope);
                    out.sym(name);
                }
            }
            out.list(values);
        }
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut flows = FileFlows::default();
        for _ in 0..from.number()? {
            let place = match from.bytes(1)?[0] {
                0 => Place::Parameter(from.symbol()?, position(from)?),
                1 => Place::Variable(from.symbol()?, from.sym()?),
                _ => return None,
            };
            flows.values.insert(place, from.list()?.into());
        }
        Some(flows)
    }
}

impl Stored for FileBases {
    fn write(&self, out: &mut Writer) {
        let FileBases { classes, extensions, methods } = self;
        out.list(classes);
        out.list(extensions);
        out.list(methods);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(FileBases { classes: from.list()?, extensions: from.list()?, methods: from.list()? })
    }
}

impl Stored for Extension {
    fn write(&self, out: &mut Writer) {
        let Extension { symbol, class, bases, members } = self;
        out.symbol(*symbol);
        out.symbol(*class);
        out.list(bases);
        out.numbers(members);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (symbol, class, bases) = (from.symbol()?, from.symbol()?, from.list()?);
        Some(Extension { symbol, class, bases, members: from.symbols()?.into() })
    }
}

impl Stored for Methods {
    fn write(&self, out: &mut Writer) {
        let Methods { owner, is_interface, shapes, known } = self;
        out.symbol(*owner);
        out.plain(is_interface);
        out.list(shapes);
        out.syms(known);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (owner, is_interface, shapes) = (from.symbol()?, from.plain()?, from.list()?);
        Some(Methods { owner, is_interface, shapes, known: from.syms()?.into() })
    }
}

impl Stored for MethodShape {
    fn write(&self, out: &mut Writer) {
        out.sym(self.0);
        out.plain(&(self.1, self.2));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let name = from.sym()?;
        let (params, results) = from.plain()?;
        Some((name, params, results))
    }
}

fn write_router(out: &mut Writer, router: RouterKey) {
    out.symbol(router.0);
    out.sym(router.1);
}

fn read_router(from: &mut Reader) -> Option<RouterKey> {
    Some((from.symbol()?, from.sym()?))
}

impl Stored for FileRouters {
    fn write(&self, out: &mut Writer) {
        let FileRouters { mounts, own, services, procedures } = self;
        out.list(mounts);
        out.number(own.len() as u32);
        for &(router, prefix) in own {
            write_router(out, router);
            out.sym(prefix);
        }
        out.list(services);
        out.list(procedures);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut routers = FileRouters { mounts: from.list()?, ..FileRouters::default() };
        for _ in 0..from.number()? {
            routers.own.push((read_router(from)?, from.sym()?));
        }
        Some(FileRouters { services: from.list()?, procedures: from.list()?, ..routers })
    }
}

impl Stored for Service {
    fn write(&self, out: &mut Writer) {
        let Service { holder, name, is_certain } = *self;
        write_router(out, holder);
        out.sym(name);
        out.plain(&is_certain);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(Service { holder: read_router(from)?, name: from.sym()?, is_certain: from.plain()? })
    }
}

impl Stored for Procedure {
    fn write(&self, out: &mut Writer) {
        let Procedure { method, service, name, place, is_test } = *self;
        [method, service, name, place].into_iter().for_each(|sym| out.sym(sym));
        out.plain(&is_test);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (method, service, name) = (from.sym()?, from.sym()?, from.sym()?);
        Some(Procedure { method, service, name, place: from.sym()?, is_test: from.plain()? })
    }
}

impl Stored for Mount {
    fn write(&self, out: &mut Writer) {
        let Mount { child, parent, prefix, replaces } = *self;
        write_router(out, child);
        write_router(out, parent);
        out.sym(prefix);
        out.plain(&replaces);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (child, parent) = (read_router(from)?, read_router(from)?);
        Some(Mount { child, parent, prefix: from.sym()?, replaces: from.plain()? })
    }
}

impl Stored for FileRoutes {
    fn write(&self, out: &mut Writer) {
        let FileRoutes { routes, links } = self;
        out.list(routes);
        out.list(links);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(FileRoutes { routes: from.list()?, links: from.list()? })
    }
}

impl Stored for Route {
    fn write(&self, out: &mut Writer) {
        let Route { name, place, is_test, method, path, framework, line } = *self;
        [name, place, method, path, framework].into_iter().for_each(|sym| out.sym(sym));
        out.plain(&(is_test, line));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let [name, place, method, path, framework]: [Sym; 5] =
            [from.sym()?, from.sym()?, from.sym()?, from.sym()?, from.sym()?];
        let (is_test, line) = from.plain()?;
        Some(Route { name, place, is_test, method, path, framework, line })
    }
}

impl Stored for Link {
    fn write(&self, out: &mut Writer) {
        let Link { source, kind, target, place, line, via } = *self;
        out.symbol(source);
        out.sym(target);
        out.sym(place);
        out.plain(&(kind, line, via));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (source, target, place) = (from.symbol()?, from.sym()?, from.sym()?);
        let (kind, line, via) = from.plain::<(EdgeType, u32, Strategy)>()?;
        Some(Link { source, kind, target, place, line, via })
    }
}

impl Stored for FileSupport {
    fn write(&self, out: &mut Writer) {
        let FileSupport { functions } = self;
        out.number(functions.len() as u32);
        for (&symbol, Support { code, helpers }) in functions {
            out.symbol(symbol);
            out.numbers(code);
            out.numbers(helpers);
        }
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut support = FileSupport::default();
        for _ in 0..from.number()? {
            let symbol = from.symbol()?;
            let (code, helpers) = (from.symbols()?.into(), from.symbols()?.into());
            support.functions.insert(symbol, Support { code, helpers });
        }
        Some(support)
    }
}

impl Stored for Fixture {
    fn write(&self, out: &mut Writer) {
        let Fixture { name, symbol, scope, is_automatic } = *self;
        out.sym(name);
        out.symbol(symbol);
        out.symbol(scope);
        out.plain(&is_automatic);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(Fixture { name: from.sym()?, symbol: from.symbol()?, scope: from.symbol()?, is_automatic: from.plain()? })
    }
}
