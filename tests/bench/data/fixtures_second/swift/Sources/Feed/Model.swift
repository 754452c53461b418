import Foundation

protocol Identified {
    var id: String { get }
    func matches(_ query: String) -> Bool
}

extension Identified {
    func matches(_ query: String) -> Bool {
        normalized(id).contains(query)
    }

    func key() -> String { "key-" + id }
}

private func normalized(_ text: String) -> String { text.lowercased() }

struct Article: Identified, Equatable {
    let id: String
    var title: Title
    private(set) var tags: [Tag] = []

    init(id: String, title: String) {
        self.id = id
        self.title = Title(title)
    }

    mutating func add(_ tag: Tag) {
        tags.append(tag.cleaned())
    }

    func summary() -> String {
        let names = tags.map { $0.display() }
        return title.shortened(to: 10) + names.joined()
    }

    static func sample(_ id: String = "x") -> Article {
        var article = Article(id: id, title: "Sample")
        article.add(.init(name: "new"))
        return article
    }
}

struct Title: Equatable {
    let text: String

    init(_ text: String) {
        self.text = Title.strip(text)
    }

    func shortened(to length: Int) -> String {
        String(text.prefix(length))
    }

    private static func strip(_ text: String) -> String { text.trimmed() }
}

struct Tag: Equatable {
    var name: String

    func cleaned() -> Tag { Tag(name: name.trimmed()) }

    func display() -> String { "#\(name)" }

    static func == (left: Tag, right: Tag) -> Bool { left.display() == right.display() }
}

extension String {
    func trimmed() -> String { trimmingCharacters(in: .whitespaces) }
}

enum FeedError: Error {
    case missing(String)
    case closed

    var reason: String {
        switch self {
        case .missing(let id): return FeedError.describe(id)
        case .closed: return "closed"
        }
    }

    static func describe(_ id: String) -> String { "missing \(id)" }
}
