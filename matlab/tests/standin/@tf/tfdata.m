function [num, den] = tfdata(system, form)
%TFDATA  Coefficients as rows.

assert(form, 'v');
num = system.num;
den = system.den;
end
