//! Bodies as trees: text with typed holes.
//!
//! A [`Node`] records its role for the shrinker: statements may be left out, an expression may be replaced by another
//! one of its type. The rest of the grammar is text between the children.

use crate::types::Ty;

/// The role of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// A list whose items may be left out: statements, arms.
    List,
    /// One item of a list.
    Item,
    /// An expression of a type.
    Expr(Ty),
    /// A pattern that may be replaced by `_`.
    Pat,
    /// Anything else.
    Other,
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The role.
    pub role: Role,
    /// Text and children in order.
    pub parts: Vec<Part>,
}

/// Text or a child.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Tokens; the layout may vary at each space.
    Text(String),
    /// A child.
    Node(Node),
}

impl Node {
    /// Makes a node; each `#` in the template is the next child, and `\u{1}` stands for a `#` in the text.
    pub fn new(role: Role, template: &str, children: Vec<Node>) -> Node {
        let mut parts = Vec::new();
        let mut children = children.into_iter();
        for (index, text) in template.split('#').enumerate() {
            if index > 0 {
                parts.push(Part::Node(children.next().expect("a child for each `#`")));
            }
            if !text.is_empty() {
                parts.push(Part::Text(text.to_string()));
            }
        }
        assert!(children.next().is_none(), "a `#` for each child of `{template}`");
        Node { role, parts }
    }

    /// Makes an expression.
    pub fn expr(ty: &Ty, template: &str, children: Vec<Node>) -> Node {
        Node::new(Role::Expr(ty.clone()), template, children)
    }

    /// Makes a statement or another item of a list.
    pub fn item(template: &str, children: Vec<Node>) -> Node {
        Node::new(Role::Item, template, children)
    }

    /// Makes a list of items.
    pub fn list(items: Vec<Node>) -> Node {
        Node { role: Role::List, parts: items.into_iter().map(Part::Node).collect() }
    }

    /// Makes a pattern.
    pub fn pat(template: &str, children: Vec<Node>) -> Node {
        Node::new(Role::Pat, template, children)
    }

    /// Makes a node that the shrinker does not change.
    pub fn other(template: &str, children: Vec<Node>) -> Node {
        Node::new(Role::Other, template, children)
    }

    /// Returns the text, with single spaces.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text.replace('\u{1}', "#")
    }

    fn write(&self, text: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(words) => text.push_str(words),
                Part::Node(node) => {
                    node.write(text);
                    if self.role == Role::List {
                        text.push(' ');
                    }
                }
            }
        }
    }

    /// Returns the children.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().filter_map(|part| match part {
            Part::Node(node) => Some(node),
            Part::Text(_) => None,
        })
    }

    /// Returns the node at a path of indices into `parts`.
    pub fn at(&self, path: &[usize]) -> &Node {
        path.iter().fold(self, |node, &index| match &node.parts[index] {
            Part::Node(child) => child,
            Part::Text(_) => panic!("a path goes through nodes"),
        })
    }

    /// Like [`at`](Node::at), for changes.
    pub fn at_mut(&mut self, path: &[usize]) -> &mut Node {
        path.iter().fold(self, |node, &index| match &mut node.parts[index] {
            Part::Node(child) => child,
            Part::Text(_) => panic!("a path goes through nodes"),
        })
    }

    /// Returns the paths of all nodes, outer ones first.
    pub fn paths(&self) -> Vec<Vec<usize>> {
        fn walk(node: &Node, path: &mut Vec<usize>, paths: &mut Vec<Vec<usize>>) {
            paths.push(path.clone());
            for (index, part) in node.parts.iter().enumerate() {
                if let Part::Node(child) = part {
                    path.push(index);
                    walk(child, path, paths);
                    path.pop();
                }
            }
        }
        let mut paths = Vec::new();
        walk(self, &mut Vec::new(), &mut paths);
        paths
    }
}
