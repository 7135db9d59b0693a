//! Transfer functions as text: `1000/(s^2+s)`, `(2s+1)(s+3)/(s^2 + 0.5s + 1)^2`, `(z-0.5)/(z-1)`.

use crate::error::ControlError;
use crate::system::{Matrix, StateSpace};

/// Most powers of the variable. More states than this are a mistake, or numerically useless as a polynomial.
const MOST_POWERS: usize = 24;

/// Numerator and denominator, coefficients from the highest power down.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferFunction {
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    text: String,
    key: &'static str,
}

impl TransferFunction {
    /// Reads a quotient of polynomials in `s` or `z` (`variable`); `key` names it in errors.
    ///
    /// # Errors
    /// [`ControlError::Syntax`] if it cannot be read.
    pub fn parse(
        key: &'static str,
        variable: char,
        text: &str,
    ) -> Result<TransferFunction, ControlError> {
        let failed = |reason: String| ControlError::Syntax {
            key,
            text: text.to_owned(),
            reason,
        };
        let mut reader = Reader {
            rest: text.trim_start(),
            variable,
            nested: 0,
        };
        let quotient = reader.sum().map_err(failed)?;
        if !reader.rest.is_empty() {
            return Err(failed(reader.expected("an operator")));
        }
        let [numerator, denominator] = [trimmed(quotient.0), trimmed(quotient.1)];
        if numerator == [0.0] {
            return Err(failed("it is zero".into()));
        }
        if denominator == [0.0] {
            return Err(failed("it divides by zero".into()));
        }
        if numerator.iter().chain(&denominator).any(|c| !c.is_finite()) {
            return Err(failed("a number is out of range".into()));
        }
        Ok(TransferFunction {
            numerator,
            denominator,
            text: text.to_owned(),
            key,
        })
    }

    /// Coefficients of the numerator, from the highest power down.
    pub fn numerator(&self) -> &[f64] {
        &self.numerator
    }

    /// Coefficients of the denominator, from the highest power down.
    pub fn denominator(&self) -> &[f64] {
        &self.denominator
    }

    /// Controllable canonical form: as many states as the denominator has powers.
    ///
    /// # Errors
    /// [`ControlError::Improper`] if the numerator has more powers than the denominator.
    pub fn state_space(&self) -> Result<StateSpace, ControlError> {
        let n = self.denominator.len() - 1;
        if self.numerator.len() - 1 > n {
            return Err(ControlError::Improper {
                key: self.key,
                text: self.text.clone(),
                numerator: self.numerator.len() - 1,
                denominator: n,
            });
        }
        let leading = self.denominator[0];
        let a: Vec<f64> = self.denominator[1..].iter().map(|c| c / leading).collect();
        let mut b = vec![0.0; n + 1 - self.numerator.len()];
        b.extend(self.numerator.iter().map(|c| c / leading));
        let direct = b[0];
        let mut matrix = Matrix::zeros(n, n);
        for column in 0..n {
            matrix[(0, column)] = -a[column];
            if column + 1 < n {
                matrix[(column + 1, column)] = 1.0;
            }
        }
        let mut input = Matrix::zeros(n, 1);
        if n > 0 {
            input[0] = 1.0;
        }
        let output = Matrix::from_fn(1, n, |_, column| b[column + 1] - direct * a[column]);
        StateSpace::new(
            self.key,
            matrix,
            input,
            output,
            Matrix::from_element(1, 1, direct),
        )
    }
}

type Polynomial = Vec<f64>;
/// Numerator and denominator.
type Quotient = (Polynomial, Polynomial);

/// Recursive descent: sum of products of powers.
struct Reader<'a> {
    rest: &'a str,
    variable: char,
    nested: u32,
}

impl Reader<'_> {
    fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expected(&self, what: &str) -> String {
        match self.rest.chars().next() {
            Some(found) => format!("{what} expected, '{found}' found"),
            None => format!("{what} expected at the end"),
        }
    }

    fn sum(&mut self) -> Result<Quotient, String> {
        let mut is_negative = self.take('-');
        if !is_negative {
            self.take('+');
        }
        let mut total: Option<Quotient> = None;
        loop {
            let (mut top, bottom) = self.product()?;
            if is_negative {
                top.iter_mut().for_each(|c| *c = -*c);
            }
            total = Some(match total {
                None => (top, bottom),
                Some((a, b)) if b == bottom => (added(&a, &top), b),
                Some((a, b)) => {
                    let sum = added(&multiplied(&a, &bottom)?, &multiplied(&top, &b)?);
                    (sum, multiplied(&b, &bottom)?)
                }
            });
            match (self.take('+'), self.take('-')) {
                (true, _) => is_negative = false,
                (_, true) => is_negative = true,
                _ => return Ok(total.unwrap_or_default()),
            }
        }
    }

    fn product(&mut self) -> Result<Quotient, String> {
        let (mut top, mut bottom) = self.power()?;
        loop {
            if self.take('/') {
                let (a, b) = self.power()?;
                top = multiplied(&top, &b)?;
                bottom = multiplied(&bottom, &a)?;
            } else if self.take('*') || self.begins_factor() {
                let (a, b) = self.power()?;
                top = multiplied(&top, &a)?;
                bottom = multiplied(&bottom, &b)?;
            } else {
                return Ok((top, bottom));
            }
        }
    }

    /// `2s` and `(s+1)(s+2)` are products too.
    fn begins_factor(&self) -> bool {
        let next = self.rest.chars().next();
        next.is_some_and(|next| next == '(' || next == self.variable)
    }

    fn power(&mut self) -> Result<Quotient, String> {
        let (top, bottom) = self.factor()?;
        if !(self.take('^') || (self.rest.starts_with("**") && self.take('*') && self.take('*'))) {
            return Ok((top, bottom));
        }
        let is_inverse = self.take('-');
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let power: usize = self.rest[..digits]
            .parse()
            .map_err(|_| self.expected("a whole power"))?;
        self.rest = self.rest[digits..].trim_start();
        let (mut raised, mut lowered) = (vec![1.0], vec![1.0]);
        if power > MOST_POWERS {
            return Err(too_many());
        }
        for _ in 0..power {
            raised = multiplied(&raised, &top)?;
            lowered = multiplied(&lowered, &bottom)?;
        }
        Ok(match is_inverse {
            true => (lowered, raised),
            false => (raised, lowered),
        })
    }

    fn factor(&mut self) -> Result<Quotient, String> {
        if self.take('(') {
            self.nested += 1;
            if self.nested > 32 {
                return Err("too many brackets in each other".into());
            }
            let inner = self.sum()?;
            self.nested -= 1;
            return match self.take(')') {
                true => Ok(inner),
                false => Err(self.expected("')'")),
            };
        }
        if self.take(self.variable) {
            return Ok((vec![1.0, 0.0], vec![1.0]));
        }
        let number = self.number()?;
        Ok((vec![number], vec![1.0]))
    }

    fn number(&mut self) -> Result<f64, String> {
        let text = self.rest.as_bytes();
        let mut end = 0;
        while end < text.len() {
            let is_sign =
                matches!(text[end], b'+' | b'-') && end > 0 && matches!(text[end - 1], b'e' | b'E');
            // `2e` of `2exp` is no exponent, but neither is that a transfer function.
            if text[end].is_ascii_digit() || matches!(text[end], b'.' | b'e' | b'E') || is_sign {
                end += 1;
            } else {
                break;
            }
        }
        let variable = self.variable;
        let number = self.rest[..end]
            .parse()
            .map_err(|_| self.expected(&format!("a number, '{variable}' or '('")))?;
        self.rest = self.rest[end..].trim_start();
        Ok(number)
    }
}

fn too_many() -> String {
    format!("more than {MOST_POWERS} powers; write it as matrices")
}

fn multiplied(a: &[f64], b: &[f64]) -> Result<Polynomial, String> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    if product.len() > MOST_POWERS + 1 {
        return Err(too_many());
    }
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    Ok(product)
}

fn added(a: &[f64], b: &[f64]) -> Polynomial {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut sum = long.to_vec();
    let offset = long.len() - short.len();
    for (i, value) in short.iter().enumerate() {
        sum[offset + i] += value;
    }
    sum
}

/// Without zeros in front.
fn trimmed(mut polynomial: Polynomial) -> Polynomial {
    let zeros = polynomial.iter().take_while(|c| **c == 0.0).count();
    polynomial.drain(..zeros.min(polynomial.len() - 1));
    polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<f64>, Vec<f64>) {
        let read = TransferFunction::parse("plant", 's', text).expect("a transfer function");
        (read.numerator, read.denominator)
    }

    fn refused(text: &str) -> String {
        let made = TransferFunction::parse("plant", 's', text).and_then(|read| read.state_space());
        made.expect_err("no transfer function").to_string()
    }

    #[test]
    fn quotients_are_read_as_they_are_written_on_paper() {
        for (text, above, below) in [
            ("1000/(s^2+s)", &[1000.0][..], &[1.0, 1.0, 0.0][..]),
            ("(2s+1)(s+3) / s^3", &[2.0, 7.0, 3.0], &[1.0, 0.0, 0.0, 0.0]),
            ("1.5e-3*s/(s + 1)**2", &[1.5e-3, 0.0], &[1.0, 2.0, 1.0]),
            ("1/s + 2", &[2.0, 1.0], &[1.0, 0.0]),
            ("-(s+1)^-1", &[-1.0], &[1.0, 1.0]),
            ("2e+1", &[20.0], &[1.0]),
        ] {
            assert_eq!(read(text), (above.to_vec(), below.to_vec()), "{text}");
        }
    }

    #[test]
    fn the_state_space_has_the_same_step_response_at_once_and_in_the_end() {
        let read = TransferFunction::parse("controller", 'z', "(3z+1)/(2z-1)").expect("read");
        let system = read.state_space().expect("proper");
        assert_eq!(system.d[0], 1.5);
        // Gain at z = 1: C (I - A)^-1 B + D.
        let end = system.c[0] / (1.0 - system.a[0]) * system.b[0] + system.d[0];
        assert_eq!(end, 4.0);
    }

    #[test]
    fn what_is_no_transfer_function_is_refused_with_the_reason() {
        assert_eq!(
            refused("1000/(s^2+s"),
            "plant: cannot read '1000/(s^2+s': ')' expected at the end"
        );
        assert!(refused("1/(q+1)").contains("a number, 's' or '(' expected, 'q' found"));
        assert!(refused("1/0").contains("divides by zero"));
        assert!(refused("0/(s+1)").contains("it is zero"));
        assert!(refused("").contains("expected at the end"));
        assert!(refused("s^1.5").contains("operator"));
        assert!(refused("(s+1)^99").contains("more than 24 powers"));
        assert!(refused(&"(".repeat(999)).contains("brackets"));
        assert_eq!(
            refused("s^2/(s+1)"),
            "plant: 's^2/(s+1)' is improper: its numerator has degree 2, its denominator 1"
        );
    }
}
