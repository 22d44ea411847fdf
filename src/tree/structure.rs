//! How a tree is built.

use std::fmt;
use std::slice::Iter;

use smallvec::SmallVec;

/// How a tree is built: its nodes, the names of their parts, and where its leaves are. The
/// same as a `treedef` of JAX.
///
/// It may be nested as deep as memory reaches: nothing that is done with it here recurses.
pub struct Structure {
    // A leaf has none.
    node: Option<Node>,
}

struct Node {
    name: &'static str,
    children: Vec<(Key, Structure)>,
}

/// What leads from a node to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A field of a struct.
    Field(&'static str),
    /// A position in a tuple, array or `Vec`.
    Index(usize),
    /// A key of a map.
    Entry(String),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Field(name) => write!(f, ".{name}"),
            Key::Index(index) => write!(f, "[{index}]"),
            Key::Entry(key) => write!(f, "[{key:?}]"),
        }
    }
}

impl Structure {
    /// A single buffer.
    pub fn leaf() -> Structure {
        Structure { node: None }
    }

    /// A node with its parts in leaf order. The name is that of the type.
    pub fn node(name: &'static str, children: Vec<(Key, Structure)>) -> Structure {
        Structure {
            node: Some(Node { name, children }),
        }
    }

    /// The name of the node's type; `None` for a leaf.
    pub fn name(&self) -> Option<&'static str> {
        Some(self.node.as_ref()?.name)
    }

    /// The parts of a node in leaf order; none for a leaf.
    #[inline]
    pub fn children(&self) -> &[(Key, Structure)] {
        match &self.node {
            Some(node) => &node.children,
            None => &[],
        }
    }

    /// How many leaves there are.
    pub fn leaf_count(&self) -> usize {
        let steps = self.walk().filter(|step| match step {
            Step::Enter(_, entered) => entered.node.is_none(),
            Step::Leave => false,
        });
        steps.count()
    }

    /// The path of each leaf, such as `state.opt.mu["w1"]` or `state.layers[0].bias`, below
    /// the given root. Without a root a path begins with the name of a part: `opt.mu["w1"]`.
    pub fn paths(&self, root: &str) -> Vec<String> {
        let mut paths = Vec::new();
        let mut path = root.to_owned();
        // How long the path was before each of the keys in it.
        let mut lengths = Vec::new();
        for step in self.walk() {
            match step {
                Step::Enter(key, entered) => {
                    lengths.push(path.len());
                    if let Some(key) = key {
                        path.push_str(&key.to_string());
                    }
                    if entered.node.is_none() {
                        paths.push(path.clone());
                    }
                }
                Step::Leave => path.truncate(lengths.pop().unwrap_or(0)),
            }
        }
        if root.is_empty() {
            for path in paths.iter_mut().filter(|path| path.starts_with('.')) {
                path.remove(0);
            }
        }
        paths
    }

    /// What a leaf is called in messages: by its path, where the tree is more than a leaf.
    pub(crate) fn describe_leaf(&self, leaf: usize) -> String {
        match self.paths("").into_iter().nth(leaf) {
            Some(path) if !path.is_empty() => format!("`{path}`"),
            Some(_) => "the array".to_owned(),
            // A tree written by hand may tell of fewer leaves than it has.
            None => format!("leaf {leaf}"),
        }
    }

    /// Through all of it in leaf order, into each part and out again.
    fn walk(&self) -> Walk<'_> {
        Walk {
            root: Some(self),
            open: SmallVec::new(),
        }
    }
}

/// A step of a walk.
enum Step<'s> {
    /// Into a part, by its key; the whole has none.
    Enter(Option<&'s Key>, &'s Structure),
    /// Out of the part that was entered last and not left.
    Leave,
}

struct Walk<'s> {
    /// Before the first step.
    root: Option<&'s Structure>,
    /// What is left of each part that was entered. No usual tree needs memory for it.
    open: SmallVec<[Iter<'s, (Key, Structure)>; 8]>,
}

impl<'s> Walk<'s> {
    fn enter(&mut self, key: Option<&'s Key>, entered: &'s Structure) -> Step<'s> {
        self.open.push(entered.children().iter());
        Step::Enter(key, entered)
    }
}

impl<'s> Iterator for Walk<'s> {
    type Item = Step<'s>;

    fn next(&mut self) -> Option<Step<'s>> {
        if let Some(root) = self.root.take() {
            return Some(self.enter(None, root));
        }
        match self.open.last_mut()?.next() {
            Some((key, part)) => Some(self.enter(Some(key), part)),
            None => {
                self.open.pop();
                Some(Step::Leave)
            }
        }
    }
}

impl Clone for Structure {
    fn clone(&self) -> Structure {
        // The copies of the parts that were entered and not left.
        let mut open: Vec<(Option<Key>, Structure)> = Vec::new();
        for step in self.walk() {
            match step {
                Step::Enter(key, entered) => {
                    let copy = Structure {
                        node: entered.node.as_ref().map(|node| Node {
                            name: node.name,
                            children: Vec::with_capacity(node.children.len()),
                        }),
                    };
                    open.push((key.cloned(), copy));
                }
                Step::Leave => {
                    let Some((key, copy)) = open.pop() else { break };
                    match (
                        key,
                        open.last_mut().and_then(|(_, outer)| outer.node.as_mut()),
                    ) {
                        (Some(key), Some(outer)) => outer.children.push((key, copy)),
                        _ => return copy,
                    }
                }
            }
        }
        unreachable!("a walk ends by leaving the whole")
    }
}

impl PartialEq for Structure {
    fn eq(&self, other: &Structure) -> bool {
        self.walk().zip(other.walk()).all(|steps| match steps {
            (Step::Enter(key, one), Step::Enter(other_key, other)) => {
                key == other_key
                    && one.name() == other.name()
                    && one.children().len() == other.children().len()
            }
            (Step::Leave, Step::Leave) => true,
            _ => false,
        })
    }
}

impl Eq for Structure {}

impl Drop for Structure {
    fn drop(&mut self) {
        let deep = |node: &Node| node.children.iter().any(|(_, part)| part.node.is_some());
        let Some(node) = self.node.as_mut().filter(|node| deep(node)) else {
            return;
        };
        // Each part is taken out of what it is in before that is dropped.
        let mut left = std::mem::take(&mut node.children);
        while let Some((_, mut part)) = left.pop() {
            if let Some(node) = &mut part.node {
                left.append(&mut node.children);
            }
        }
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whether each part that was entered is a node, and nothing of it is written yet.
        let mut open: Vec<Option<bool>> = Vec::new();
        for step in self.walk() {
            match step {
                Step::Enter(key, entered) => {
                    if let Some(Some(first)) = open.last_mut() {
                        let comma = if std::mem::take(first) { "" } else { ", " };
                        f.write_str(comma)?;
                    }
                    if let Some(key) = key {
                        write!(f, "{key}: ")?;
                    }
                    match entered.name() {
                        Some(name) => write!(f, "{name}(")?,
                        None => f.write_str("*")?,
                    }
                    open.push(entered.name().map(|_| true));
                }
                Step::Leave => {
                    if let Some(Some(_)) = open.pop() {
                        f.write_str(")")?;
                    }
                }
            }
        }
        Ok(())
    }
}
